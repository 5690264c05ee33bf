"""Shared by the tests of `counted_step` and `loop`."""

from costmodel.workloads.transformer.shapes import TransformerShape
from planner.studies.reproduce.experiments.counted_step import CountedStep
from tests.oracles.sipam import MODELS

PHASES = ("training", "inference")


def shape(model: str) -> TransformerShape:
    layers, hidden, heads, head_dim, ffn = MODELS[model]
    return TransformerShape(
        layers=layers, hidden=hidden, heads=heads, kv_heads=heads, head_dim=head_dim, ffn=ffn, vocabulary=51200
    )


def step(model: str, phase: str, batch: int = 8, micro: int = 8) -> CountedStep:
    fields = {"model": shape(model), "phase": phase, "sequence": 2048, "global_batch": batch, "micro_batch": micro}
    return CountedStep.model_validate(fields)

"""One accelerator's step of serving written out: every kernel and message, layer by layer."""

from types import SimpleNamespace
from typing import Any

from costmodel.workloads.transformer import inference
from tests.oracles.transformer import BYTES, Rank, Run, Send, Step


def inference_step(job: Any, choice: dict[str, int], phase: str | None = None) -> Step:
    """A token for every user of a replica, and a share of the prefill of their prompts; or one of both alone."""
    c, shape, step = SimpleNamespace(**choice), job.shape, Step()
    sequences = -(-job.concurrency // c.data)
    context = job.input_tokens + job.output_tokens / 2
    prompt = job.input_tokens / 2 if shape.causal else job.input_tokens
    for name, new_tokens, seen, read, share in (
        ("decode", 1, context, context, 1),
        ("prefill", job.input_tokens, prompt, job.input_tokens, 1 / job.output_tokens),
    ):
        tokens = sequences * new_tokens
        rank = Rank(shape, c.tensor, c.expert, tokens, tokens, BYTES[job.precision], BYTES[job.activation_precision])
        cached = sequences * read * 2 * rank.keys * BYTES[job.kv_precision]
        in_bf16 = job.precision == "fp8" and job.kv_precision != "fp8"
        moved = cached + 2 * rank.activation * tokens * rank.query
        core = Run("attention", 4 * tokens * seen * rank.query, moved, precision="bf16" if in_bf16 else job.precision)
        runs, sends = [*rank.layer(), core] * shape.layers, rank.layer_sends(2) * shape.layers
        precision = "bf16" if job.precision == "fp8" else job.precision
        runs.append(rank.matrix(sequences, shape.hidden, shape.vocabulary / c.tensor, 1, 2, precision))
        if phase not in (None, name):
            continue
        step.every_stage.add(
            [Run(r.kind, r.flops, r.memory_bytes, r.times * share, r.sizes, r.precision) for r in runs],
            [Send(s.dimension, s.message_bytes, s.times * share) for s in sends],
        )
    layer = BYTES[job.precision] * (rank.whole_parameters() + rank.expert_parameters())
    cache = sequences * (job.input_tokens + job.output_tokens) * 2 * BYTES[job.kv_precision] * rank.keys
    vocabularies = 1 if shape.tied_embeddings else 2
    ends = 2 * vocabularies * shape.vocabulary * shape.hidden / c.tensor
    step.memory.footprint_bytes = shape.layers * (layer + cache) + ends + inference.RUNTIME_BYTES
    return step

"""Seconds of layers: together they are what was scored, and a backward pass takes about twice a forward one."""

import numpy as np
import pytest

from costmodel.dataflow.networks.pass_times import PassTimes
from costmodel.hardware.device import load_device
from costmodel.hardware.memory.tier import load_memory_tier
from costmodel.pricing.candidates import enumerate_candidates
from costmodel.pricing.score import score
from costmodel.workloads import TransformerTraining
from costmodel.workloads.transformer.stage import Stage
from tests.costmodel.dataflow.networks.small_model import FABRIC, SHAPE


@pytest.mark.parametrize(("recompute", "least", "most"), [("none", 1.7, 2.6), ("full", 2.7, 3.6)])
def test_they_add_up_to_the_scored_step(recompute: str, least: float, most: float) -> None:
    fields = {"model": SHAPE, "global_batch": 16, "sequence": 512, "micro_batch": 2, "offload": "activations"}
    job = TransformerTraining.model_validate(fields | {"recompute": recompute})
    device = load_device("h100-sxm").model_copy(update={"offload": load_memory_tier("host-pcie5")})
    rows = enumerate_candidates(job, [4], device, FABRIC)
    scores = score(rows, device, FABRIC)
    part, graph = rows.part(np.arange(len(rows)), device)
    stage = Stage.of(job, part.mappings)
    times = PassTimes.of(part, graph, scores, stage)
    micro_batches, layers = (16 / 2 / part.mappings.data)[part.mapping], (12 / part.mappings.pipeline)[part.mapping]
    passes_s = micro_batches * layers * (times.forward_s + times.backward_s)
    whole_s = passes_s + layers * times.update_s + times.idle_s
    np.testing.assert_allclose(whole_s, scores.step_s - scores.offload_s, rtol=1e-9)
    ratio = times.backward_s / times.forward_s
    assert ((ratio > least) & (ratio < most)).all()

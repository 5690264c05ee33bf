"""One rank's step of convolutional and recurrent networks that offload: as scored, and within the second tier."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costmodel.dataflow.networks.rank_step import rank_step
from costmodel.dataflow.networks.trained import rank_step_of
from costmodel.dataflow.streams.placement import evenly, kept
from costmodel.dataflow.streams.resident import RULES
from costmodel.dataflow.streams.simulate import simulate
from costmodel.hardware.device import load_device
from costmodel.hardware.memory.tier import load_memory_tier
from costmodel.pricing.candidates import enumerate_candidates
from costmodel.pricing.score import score
from costmodel.workloads import NetworkTraining
from tests.costmodel.pricing.score_cases import FAT_TREE, fabric_of
from tests.costmodel.strategies import networks

DEVICE = load_device("h100-sxm").model_copy(update={"offload": load_memory_tier("host-pcie5")})
FABRIC = fabric_of(FAT_TREE)


@pytest.mark.slow
@settings(deadline=None, max_examples=30)
@given(job=networks(), size=st.sampled_from([1, 2, 4]))
def test_without_copies_a_step_takes_what_was_scored(job: NetworkTraining, size: int) -> None:
    rows = enumerate_candidates(job.model_copy(update={"offload": "activations"}), [size], DEVICE, FABRIC)
    scores = score(rows, DEVICE, FABRIC)
    for row in range(len(rows)):
        step = rank_step(rows, scores, row)
        assert step is not None
        sizes = step.program.size_bytes
        end_s = simulate(step.program, step.links, kept(sizes, step.links), RULES).end_s
        assert end_s == pytest.approx(float(scores.step_s[row] - scores.offload_s[row]), rel=1e-9)
        away = float(rows.workload.footprint(rows.mappings)[1][rows.mapping[row]])
        assert (np.ceil(sizes / step.page_bytes) * step.page_bytes).sum() <= away
        assert step.local_bytes == pytest.approx(DEVICE.capacity_bytes - scores.footprint_bytes[row])


def test_copies_hide_until_the_tier_is_slow() -> None:
    """Outputs of VGG-E pass a fast tier behind its layers; the slower one sets the pace of the step."""
    job = NetworkTraining(model="vgg-e", global_batch=64, offload="activations")
    took = []
    for rate in (4e11, 4e9):
        tier = load_memory_tier("host-pcie5").model_copy(update={"bandwidth_bytes_per_s": rate})
        device = DEVICE.model_copy(update={"offload": tier})
        rows = enumerate_candidates(job, [1], device, FABRIC)
        step = rank_step_of(rows.configuration(0), job, device, FABRIC)
        assert step is not None
        moved = evenly(step.program.size_bytes, step.links)
        took.append(simulate(step.program, step.links, moved, RULES).end_s)
        scores = score(rows, device, FABRIC)
        free_s = float(scores.step_s[0] - scores.offload_s[0])
        assert took[-1] >= free_s * (1 - 1e-9)
    moved_s = 2 * step.program.size_bytes.sum() / 4e9
    assert took[0] < 1.05 * free_s < moved_s <= took[1]


def test_a_network_that_offloads_nothing_has_no_such_step() -> None:
    job = NetworkTraining(model="alexnet", global_batch=64)
    rows = enumerate_candidates(job, [1], DEVICE, FABRIC)
    assert rank_step_of(rows.configuration(0), job, DEVICE, FABRIC) is None

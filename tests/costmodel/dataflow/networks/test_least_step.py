"""The closed bound on placed steps, against simulated steps with places that random changes made good."""

import random
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costmodel.dataflow.networks.least_step import least_step_s
from costmodel.dataflow.networks.rank_step import rank_step
from costmodel.hardware.device import load_device
from costmodel.hardware.memory.tier import MemoryTier, load_memory_tier
from costmodel.pricing.candidates import enumerate_candidates
from costmodel.pricing.score import score
from costmodel.workloads import TransformerTraining
from planner.model.rank_step import PageCase
from planner.pages.even_shares import even_shares
from planner.pages.improve import improve
from planner.pages.problem import PageProblem
from tests.costmodel.dataflow.networks.small_model import FABRIC, SHAPE
from tests.oracles.placed_nodes import fastest_step_s

IMPROVED_S = 0.05
OFFLOADS = ("weights", "weights+activations", "weights+optimizer", "weights+activations+optimizer")
MEBIBYTE = 2**20


def _tier(bytes_per_s: float) -> MemoryTier:
    return load_memory_tier("host-pcie5").model_copy(update={"bandwidth_bytes_per_s": bytes_per_s})


@settings(max_examples=25, deadline=None)
@given(
    size=st.sampled_from([1, 2, 4, 8]),
    batch=st.sampled_from([8, 16]),
    layers=st.sampled_from([4, 6, 7]),
    offload=st.sampled_from([*OFFLOADS, "activations", "optimizer", "activations+optimizer"]),
    recompute=st.sampled_from(["none", "full", "selective"]),
    bytes_per_s=st.sampled_from([2e9, 1e10, 6e10]),
    spare_bytes=st.sampled_from([0.0, 2e7, 2e8]),
    draw=st.integers(0, 1000),
)
def test_no_places_take_less_than_the_bound(
    size: int, batch: int, layers: int, offload: str, recompute: str, bytes_per_s: float, spare_bytes: float, draw: int
) -> None:
    fields = {"global_batch": batch, "sequence": 512, "micro_batch": (1, 2), "interleave": (1, 2, 3)}
    fields |= {"model": SHAPE | {"layers": layers}, "offload": offload, "recompute": recompute}
    job, device = TransformerTraining.model_validate(fields), load_device("h100-sxm")
    device = device.model_copy(update={"offload": _tier(bytes_per_s)})
    rows = enumerate_candidates(job, [size], device, FABRIC)
    row = draw % len(rows)
    footprint_bytes = float(score(rows, device, FABRIC).footprint_bytes[row])
    device = device.model_copy(update={"capacity_bytes": footprint_bytes * 1.02 + spare_bytes})
    rows = enumerate_candidates(job, [size], device, FABRIC)
    row = draw % len(rows)
    scores = score(rows, device, FABRIC)
    least_s, step = least_step_s(rows, scores), rank_step(rows, scores, row)
    assert step is not None
    problem = PageProblem.of_case(PageCase.of_rank("", step))
    placed = even_shares(problem)
    assert placed is not None
    until_s = time.perf_counter() + IMPROVED_S
    placed = improve(problem, placed, until_s, random.Random(draw), lambda *_: None, bool)
    assert scores.step_s[row] - scores.offload_s[row] <= least_s[row] <= problem.value_s(placed) * (1 + 1e-9)


@settings(max_examples=15, deadline=None)
@given(
    tiny=st.sampled_from([(1, "weights"), (3, "weights"), (2, "weights+optimizer"), (1, "weights+activations")]),
    bytes_per_s=st.sampled_from([1e7, 3e7, 1e8]),
    spare_bytes=st.sampled_from([0, 1, 2, 3]).map(lambda pages: pages * 1.01 * MEBIBYTE),
)
def test_no_placement_of_a_tiny_step_takes_less(tiny: tuple[int, str], bytes_per_s: float, spare_bytes: float) -> None:
    """Two layers, whose weights are a page each, on one device: every placement of whole pages is tried."""
    micro_batches, offload = tiny
    model = {"hidden": 256, "heads": 4, "kv_heads": 4, "head_dim": 64, "ffn": 300, "vocabulary": 64, "layers": 2}
    fields = {"model": model, "global_batch": micro_batches, "sequence": 256, "micro_batch": 1, "recompute": "none"}
    job = TransformerTraining.model_validate(fields | {"offload": offload})
    device = load_device("h100-sxm").model_copy(update={"offload": _tier(bytes_per_s), "flops": {"bf16": 1e11}})
    rows = enumerate_candidates(job, [1], device, FABRIC)
    footprint_bytes = float(score(rows, device, FABRIC).footprint_bytes[0])
    device = device.model_copy(update={"capacity_bytes": footprint_bytes + spare_bytes})
    rows = enumerate_candidates(job, [1], device, FABRIC)
    scores = score(rows, device, FABRIC)
    step = rank_step(rows, scores, 0)
    assert step is not None
    best_s = fastest_step_s(step)
    assert best_s is not None
    assert least_step_s(rows, scores)[0] <= best_s * (1 + 1e-9)


@pytest.mark.parametrize("offload", ["activations", *OFFLOADS])
def test_the_bound_is_near_good_places_where_copies_bind(offload: str) -> None:
    """A pipeline of two stages on a slow way: the bound is far above the operators' time, and within a fifth of what
    even shares take."""
    job = TransformerTraining.model_validate(
        {"model": SHAPE, "global_batch": 16, "sequence": 512, "micro_batch": 2, "offload": offload}
    )
    device = load_device("h100-sxm").model_copy(update={"offload": _tier(1e10)})
    rows = enumerate_candidates(job, [2], device, FABRIC)
    scores = score(rows, device, FABRIC)
    row = int(np.flatnonzero(rows.mappings.pipeline[rows.mapping] == 2)[0])
    capacity_bytes = float(scores.footprint_bytes[row]) + 1e6
    device = device.model_copy(update={"capacity_bytes": capacity_bytes})
    rows = enumerate_candidates(job, [2], device, FABRIC)
    scores = score(rows, device, FABRIC)
    row = int(np.flatnonzero(rows.mappings.pipeline[rows.mapping] == 2)[0])
    step = rank_step(rows, scores, row)
    assert step is not None
    problem = PageProblem.of_case(PageCase.of_rank("", step))
    placed = even_shares(problem)
    assert placed is not None
    least_s = least_step_s(rows, scores)[row]
    assert least_s > 1.2 * (scores.step_s[row] - scores.offload_s[row])
    assert problem.value_s(placed) <= 1.2 * least_s


def test_uneven_chunks_run_every_layer() -> None:
    """Stages of three layers in chunks of one and two: each runs once forward and once backward in a micro-batch."""
    job = TransformerTraining.model_validate(
        {
            "model": SHAPE | {"layers": 6},
            "global_batch": 4,
            "sequence": 512,
            "micro_batch": 1,
            "interleave": 2,
            "offload": "optimizer",
        }
    )
    device = load_device("h100-sxm").model_copy(update={"offload": load_memory_tier("host-pcie5")})
    rows = enumerate_candidates(job, [2], device, FABRIC)
    scores = score(rows, device, FABRIC)
    row = int(np.flatnonzero((rows.mappings.pipeline == 2)[rows.mapping])[0])
    step = rank_step(rows, scores, row)
    assert step is not None
    free_s = float(scores.step_s[row] - scores.offload_s[row])
    assert float(step.program.operator_s.sum()) == pytest.approx(free_s)

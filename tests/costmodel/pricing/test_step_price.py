"""A step lasts as long as its parts together; what moves to a second tier costs time where operators do not hide it."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from costmodel.hardware.device import load_device
from costmodel.hardware.memory.tier import load_memory_tier
from costmodel.pricing.candidates import Candidates, enumerate_candidates
from costmodel.pricing.step_price import step_price
from tests.costmodel.pricing.unlisted_cases import WORKLOADS, fabric, workload

DEVICE = load_device("h100-sxm").model_copy(update={"offload": load_memory_tier("host-pcie5")})


def rows_of(name: str, on: str) -> Candidates:
    chosen = fabric(on)
    rows = enumerate_candidates(workload(WORKLOADS[name]), (8, 16), DEVICE, chosen)
    return rows.take(np.arange(0, len(rows), max(1, len(rows) // 200)))


@pytest.mark.parametrize(
    ("name", "on"),
    [*product(("small", "offloads"), ("fat_tree", "lightpath", "ocs_rail", "torus")), ("experts", "fat_tree")],
)
def test_a_step_is_the_sum_of_its_parts(name: str, on: str) -> None:
    chosen = fabric(on)
    part, graph = rows_of(name, on).part(slice(None), DEVICE, None)
    columns, _ = step_price(part, graph, DEVICE, chosen, None, DEVICE.memory_j_per_byte)
    parts = ("compute_s", "memory_s", "reconfiguration_s", "bubble_s", "offload_s")
    together = sum(columns[each] for each in parts) + columns["communication_s"].sum(axis=0)
    np.testing.assert_allclose(columns["step_s"], together, rtol=1e-12)
    assert all((column >= 0).all() for column in columns.values())
    assert len(columns["step_s"]) > 0


def test_more_moved_to_a_second_tier_takes_no_less_time_and_more_energy() -> None:
    part, graph = rows_of("offloads", "fat_tree").part(slice(None), DEVICE, None)
    assert DEVICE.offload is not None
    assert graph.tier_bytes.any()
    last_s, last_j = np.zeros(len(part)), np.zeros(len(part))
    for factor in (0.0, 0.5, 1.0, 50.0):
        windows = tuple((factor * size, share) for size, share in graph.tier_windows)
        moved = replace(graph, tier_bytes=factor * graph.tier_bytes, tier_windows=windows)
        columns, drawn = step_price(part, moved, DEVICE, fabric("fat_tree"), None, DEVICE.memory_j_per_byte)
        assert (columns["offload_s"] >= last_s).all()
        assert (drawn.tier_j >= last_j).all()
        last_s, last_j = columns["offload_s"], drawn.tier_j
    lower_s = 50 * graph.tier_bytes[part.mapping] / DEVICE.offload.bandwidth_bytes_per_s
    assert (last_s <= lower_s * (1 + 1e-12)).all()
    assert (last_s > 0).any()

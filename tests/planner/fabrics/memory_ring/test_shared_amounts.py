"""DIMMs as amounts that jobs share, beside accelerators."""

import pytest

from planner.candidates.expand import expand
from planner.fabrics import plugin_of
from tests.planner.fabrics.memory_ring.ring_cases import instance, job


def test_rows_use_a_share_of_all_dimms() -> None:
    problem = expand(instance(job("a", 2)), prune=False)
    amounts = plugin_of(problem.cluster.fabric).shared_amounts
    assert amounts.are_any(problem.cluster)
    (usage,) = amounts.usage(problem)
    held = [shape.held_units for shape in problem.options[0].shapes]
    assert usage[:, 0] == pytest.approx(2 / 4)
    assert usage[:, 1] == pytest.approx([2 * each / 16 for each in held])


def test_nothing_is_shared_where_each_device_has_its_half() -> None:
    problem = expand(instance(job("a", 2), shared_nodes=False), prune=False)
    amounts = plugin_of(problem.cluster.fabric).shared_amounts
    assert not amounts.are_any(problem.cluster)
    assert amounts.usage(problem)[0].shape[1] == 1

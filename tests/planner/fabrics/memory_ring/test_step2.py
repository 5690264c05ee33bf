"""Slots for counts by server: found where there are any, refuted where there are none."""

import pytest

from planner.candidates.expand import expand
from planner.fabrics import plugin_of
from planner.fabrics.pattern import Choice
from planner.fabrics.problem import JobOptions
from planner.formulation.step_two import Realized, StepTwoLimits
from tests.planner.fabrics.memory_ring.ring_cases import instance, job

LIMITS = StepTwoLimits(time_limit_s=60.0, deterministic_limit=10.0, workers=1, seed=0)


def _row(options: JobOptions, each_side: int) -> int:
    return next(row for row in range(len(options)) if options.shapes[row].held_units == 2 * each_side)


def _realized(*sides: int) -> Realized:
    """Jobs of one rank with so many DIMMs on either side, all on the one server."""
    problem = expand(instance(*(job(f"j{i}", 1) for i in range(len(sides)))), prune=False)
    pattern = {j: Choice(_row(problem.options[j], each), False, ((0, 1),)) for j, each in enumerate(sides)}
    return plugin_of(problem.cluster.fabric).step_two.realize(problem, pattern, LIMITS)


@pytest.mark.parametrize("sides", [(1, 1, 3, 3), (2, 2, 2, 2), (1, 3), (4, 4), (1, 3, 1, 3)])
def test_neighbours_divide_a_node(sides: tuple[int, ...]) -> None:
    found = _realized(*sides)
    assert found.assignments is not None
    held = {each.devices[0]: (each.configuration.memory_units or 0) // 2 for each in found.assignments}
    beside = [held.get(f"s0.d{i}", 0) + held.get(f"s0.d{(i + 1) % 4}", 0) for i in range(4)]
    assert max(beside) <= 4


@pytest.mark.parametrize("sides", [(3, 3, 3), (4, 4, 1), (2, 2, 2, 3)])
def test_what_no_slots_hold_is_refuted(sides: tuple[int, ...]) -> None:
    assert _realized(*sides).nogood == tuple(range(len(sides)))

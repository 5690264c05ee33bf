"""Levels that end unproven are searched once more in the time that is left, and those below them with what changed."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from planner.checks import check
from planner.cpsat import solve as levels
from planner.cpsat.benders import LevelOutcome
from planner.model.instance import Instance
from planner.model.result import SolveOptions, Status
from planner.pipeline import solve
from tests.oracles.brute_force import brute_force
from tests.oracles.tiny_instances import tiny_instance

TIMED = SolveOptions(time_limit_s=600.0, workers=1)
VALUE_FIRST, LATER = (1, 3, 9, 12, 13), (0, 2, 8, 9)
"""seeds of instances: those whose first level is value, and of four levels"""


class TooLate:
    """Stands for the search of a level, whose share of the time is over when it is first asked."""

    def __init__(self, searched: Callable[..., LevelOutcome]) -> None:
        self._searched, self.asked = searched, 0

    def __call__(self, *arguments: object) -> LevelOutcome:
        self.asked += 1
        return LevelOutcome(is_proven=False) if self.asked == 1 else self._searched(*arguments)


def agrees(instance: Instance, options: SolveOptions) -> None:
    """Every level is proven, with the enumerated optimum."""
    expected, result = brute_force(instance), solve(instance, options=options)
    if expected is None or result.plan is None:
        assert (expected, result.plan) == (None, None)
        return
    assert result.status is Status.OPTIMAL
    assert {each.objective: each.value for each in result.levels} == pytest.approx(expected.values, rel=1e-6, abs=1e-9)
    assert check(instance, result.plan, starts=True) == []


@pytest.mark.parametrize("seed", VALUE_FIRST)
def test_a_first_level_that_ended_late_is_proven_in_the_time_that_is_left(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = TooLate(levels.optimize_value)
    monkeypatch.setattr(levels, "optimize_value", late)
    agrees(tiny_instance(seed), TIMED)
    assert late.asked == 2


@pytest.mark.parametrize("seed", LATER)
def test_a_later_level_that_ended_late_is_proven_in_the_time_that_is_left(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = TooLate(levels._optimize)
    monkeypatch.setattr(levels, "_optimize", late)
    agrees(tiny_instance(seed), TIMED)
    assert late.asked > len(tiny_instance(seed).objectives) - 1


def test_where_work_is_limited_instead_of_time_no_level_is_searched_again(monkeypatch: pytest.MonkeyPatch) -> None:
    late = TooLate(levels.optimize_value)
    monkeypatch.setattr(levels, "optimize_value", late)
    solve(tiny_instance(VALUE_FIRST[0]), options=replace(TIMED, deterministic_limit=5.0))
    assert late.asked == 1

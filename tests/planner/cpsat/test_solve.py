"""Levels that end unproven are searched once more in the time that is left, and those below them with what changed."""

from collections.abc import Callable
from dataclasses import replace
from itertools import count

import pytest

from planner.checks import check
from planner.cpsat import solve as levels
from planner.cpsat.benders import LevelOutcome
from planner.cpsat.search import Search
from planner.model.clock import Clock
from planner.model.instance import Instance
from planner.model.result import SolveOptions, Status
from planner.pipeline import solve
from tests.oracles.brute_force import brute_force
from tests.oracles.tiny_instances import tiny_instance
from tests.planner.small_racks import rack, serving, training

TIMED = SolveOptions(time_limit_s=600.0, workers=1)
VALUE_FIRST, LATER = (1, 3, 9, 13), (0, 2, 8, 9)
"""seeds of instances: those whose first level is value, of which later ones give up nothing, and of four levels"""


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


def asked_where_the_first_is_late(monkeypatch: pytest.MonkeyPatch, search: str, seed: int) -> int:
    """How often a search of levels is asked where its first one ends late; all are proven all the same."""
    late = TooLate(getattr(levels, search))
    monkeypatch.setattr(levels, search, late)
    agrees(tiny_instance(seed), TIMED)
    return late.asked


@pytest.mark.parametrize("seed", VALUE_FIRST)
def test_a_first_level_that_ended_late_is_proven_in_the_time_that_is_left(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert asked_where_the_first_is_late(monkeypatch, "optimize_value", seed) == 2


@pytest.mark.parametrize("seed", LATER)
def test_a_later_level_that_ended_late_is_proven_in_the_time_that_is_left(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert asked_where_the_first_is_late(monkeypatch, "_optimize", seed) > len(tiny_instance(seed).objectives) - 1


def test_where_work_is_limited_instead_of_time_no_level_is_searched_again(monkeypatch: pytest.MonkeyPatch) -> None:
    late = TooLate(levels.optimize_value)
    monkeypatch.setattr(levels, "optimize_value", late)
    solve(tiny_instance(VALUE_FIRST[0]), options=replace(TIMED, deterministic_limit=5.0))
    assert late.asked == 1


def test_what_a_level_may_give_up_is_given_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A level whose value later ones have spent is not searched again from what is left of it."""
    first, later, asked = levels.optimize_value, levels._optimize, count()

    def value(search: Search, clock: Clock) -> LevelOutcome:
        """The best plan, not proven; asked again, nothing."""
        if next(asked) == 0:
            first(search, clock)
            search.bound = None
        return LevelOutcome(is_proven=False)

    def energy(search: Search, objective: str, clock: Clock) -> LevelOutcome:
        later(search, objective, clock)
        search.bound = 0.0
        return LevelOutcome(is_proven=False)

    monkeypatch.setattr(levels, "optimize_value", value)
    monkeypatch.setattr(levels, "_optimize", energy)
    served = {"a": "bert-large", "b": "llama-3.1-8b"}
    jobs = [serving(name, [1, 2, 4], model=model, utility="sqrt") for name, model in served.items()]
    objectives = [{"name": "value", "tolerance": 0.1}, {"name": "energy"}]
    data = rack(*jobs, training("c", [1, 2, 4], utility="sqrt"), servers=2, tiles=4, fibers=4, objectives=objectives)
    result = solve(Instance.parse(data), options=TIMED)
    best = max(each.objective for each in result.trace if each.level == "value" and each.objective is not None)
    assert result.plan is not None
    assert 0.9 * best - 1e-6 <= result.plan.objectives["value"] < best


@pytest.mark.parametrize(("gap", "is_compacted"), [(0.0, True), (0.9, False)])
def test_a_plan_that_is_near_enough_is_not_compacted(
    monkeypatch: pytest.MonkeyPatch, gap: float, is_compacted: bool
) -> None:
    jobs = [serving(f"j{weight}", [1, 2, 4], weight=weight) for weight in range(1, 5)]
    instance = Instance.parse(rack(*jobs, training("t", [2, 4, 8]), fibers=1))
    searches = list[Search]()
    monkeypatch.setattr(levels, "compact", searches.append)
    result = solve(instance, options=SolveOptions(workers=1, deterministic_limit=5.0, gap=gap))
    assert (result.status is Status.OPTIMAL, len(searches)) == (is_compacted, int(is_compacted))

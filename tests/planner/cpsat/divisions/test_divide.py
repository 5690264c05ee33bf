"""The most valuable plan over divisions, against enumeration."""

from collections.abc import Callable

import pytest

from planner.candidates.expand import expand
from planner.checks import check
from planner.cpsat import core
from planner.cpsat.divisions.divide import divide
from planner.cpsat.solve import plan_of
from planner.model.clock import Clock
from planner.model.instance import Instance
from planner.model.result import Status
from planner.pipeline import solve
from tests.oracles.brute_force import brute_force
from tests.oracles.tiny_instances import tiny_crossing, tiny_instance
from tests.planner.cpsat.divisions.division_cases import exchanging, narrow_fibers, problem_of, search_of
from tests.planner.small_racks import OPTIONS, training
from tests.seeds import seeds

REFUSED_WITH_A_BOUND = (24, 30, 31, 53, 57, 61)
"""seeds whose best plan has rows that are open only once others are refused that are worth more than a bound"""


@pytest.mark.parametrize("seed", seeds(12))
@pytest.mark.parametrize("draw", [tiny_instance, tiny_crossing])
def test_best_plan_is_the_enumerated_one(draw: Callable[[int], Instance], seed: int) -> None:
    instance = draw(seed)
    if instance.objectives[0].name != "value":
        return
    search = search_of(expand(instance))
    expected = brute_force(instance)
    if expected is None or not divide(search, Clock.of(600.0)):
        return
    assert search.assignments is not None
    plan = plan_of(search.full, search.assignments)
    assert search.value("value") == pytest.approx(expected.values["value"], rel=1e-6, abs=1e-9)
    assert check(instance, plan, starts=True) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", [*range(4), *REFUSED_WITH_A_BOUND])
def test_best_plan_is_that_of_a_search_without_divisions(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    instance = narrow_fibers(seed)
    search = search_of(expand(instance))
    assert divide(search, Clock.of(600.0))
    assert search.bound == pytest.approx(search.value("value"), rel=1e-6)
    monkeypatch.setattr(core, "divide", lambda *_: False)
    top = solve(instance, options=OPTIONS).levels[0]
    assert top.status is Status.OPTIMAL
    assert search.value("value") == pytest.approx(top.value, rel=1e-6)


def test_bound_falls_to_what_divisions_allow() -> None:
    """Three jobs of four on servers of three: by devices alone two would run, but no fiber carries their light."""
    jobs = [exchanging(name) for name in "abc"]
    problem = problem_of(*jobs, health={"failed_tiles": ["s0.t0", "s1.t0", "s2.t0"]}, servers=3, fibers=1)
    search = search_of(problem)
    search.bound = search.knapsack.bound
    assert divide(search, Clock.of(600.0))
    assert search.value("value") == 0.0
    assert search.knapsack.bound > 0.0


def test_servers_with_fibers_of_their_own_are_not_divided() -> None:
    fibers = [{"from": "s0", "to": "s1", "count": 2}]
    assert not divide(search_of(problem_of(training("x", 4), fibers=fibers)), Clock.of(600.0))

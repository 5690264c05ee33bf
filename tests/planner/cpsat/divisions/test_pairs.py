"""Plans of jobs over one server or two: better than those of one, valid, and never above enumeration."""

from collections.abc import Callable

import pytest

from planner.candidates.expand import expand
from planner.checks import check
from planner.cpsat.divisions.pairs import pack_pairs
from planner.cpsat.divisions.whole import pack_whole
from planner.cpsat.solve import plan_of
from planner.model.clock import Clock
from planner.model.instance import Instance
from tests.oracles.brute_force import brute_force
from tests.oracles.tiny_instances import tiny_crossing, tiny_instance
from tests.planner.cpsat.divisions.division_cases import exchanging, problem_of, search_of
from tests.planner.small_racks import serving

LIMIT_S = 600.0


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("draw", [tiny_instance, tiny_crossing])
def test_no_plan_is_worth_more_than_the_enumerated_one(draw: Callable[[int], Instance], seed: int) -> None:
    instance = draw(seed)
    if instance.objectives[0].name != "value":
        return
    search, expected = search_of(expand(instance)), brute_force(instance)
    if expected is None:
        return
    search.bound = search.knapsack.bound
    pack_whole(search, Clock.of(LIMIT_S))
    is_best = pack_pairs(search, Clock.of(LIMIT_S))
    if search.assignments is None:
        return
    value = search.value("value")
    assert value is not None
    assert value <= expected.values["value"] * (1 + 1e-6) + 1e-9
    assert not is_best or value == pytest.approx(expected.values["value"], rel=1e-6, abs=1e-9)
    assert check(instance, plan_of(search.full, search.assignments), starts=True) == []


@pytest.mark.parametrize("fibers", [2, [{"from": a, "to": b, "count": 2} for a, b in (("s0", "s1"), ("s1", "s0"))]])
def test_a_job_takes_what_others_leave_of_two_servers(fibers: object) -> None:
    """Servers of three hold no job of four, but two halves of it beside a single rank each."""
    jobs = [exchanging("a", weight=3), serving("b", 1), serving("c", 1)]
    problem = problem_of(*jobs, health={"failed_tiles": ["s0.t0", "s1.t0"]}, servers=2, fibers=fibers)
    search = search_of(problem)
    search.bound = search.knapsack.bound
    assert not pack_whole(search, Clock.of(LIMIT_S))
    assert search.assignments is not None
    assert {each.job for each in search.assignments} == {"b", "c"}
    pack_pairs(search, Clock.of(LIMIT_S))
    lying = {each.job: {name.split(".")[0] for name in each.devices} for each in search.assignments}
    assert lying["a"] == {"s0", "s1"}
    assert {"b", "c"} <= lying.keys()


def test_where_slots_matter_pairs_do_not_say_all() -> None:
    search = search_of(problem_of(exchanging("a"), waveguides="shared"))
    search.bound = search.knapsack.bound
    assert not pack_pairs(search, Clock.of(LIMIT_S))

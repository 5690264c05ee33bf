"""The most valuable plan over all divisions where servers differ in fibers, and its bound, against enumeration."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from planner.candidates.expand import expand
from planner.checks import check
from planner.cpsat import core
from planner.cpsat.divisions import joined, pairs, reasons
from planner.cpsat.divisions.joined import divide_joined, servers_to_join
from planner.cpsat.divisions.whole import pack_whole
from planner.cpsat.search import Search
from planner.cpsat.solve import plan_of
from planner.cpsat.step2.realize import realize
from planner.fabrics.pattern import Pattern
from planner.fabrics.problem import Problem
from planner.formulation.step_two import Realized, StepTwoLimits
from planner.model.clock import Clock
from planner.model.instance import Instance
from planner.model.result import SolveOptions
from tests.oracles.brute_force import brute_force
from tests.oracles.tiny_instances import tiny_crossing, tiny_instance
from tests.planner.cpsat.divisions.division_cases import exchanging, problem_of, ringing, search_of
from tests.planner.cpsat.hesitation import Hesitation
from tests.planner.small_racks import serving, training

LIMIT_S = 600.0


def fibers(*joined: tuple[int, int], count: int = 2) -> list[dict[str, Any]]:
    return [{"from": f"s{x}", "to": f"s{y}", "count": count} for a, b in joined for x, y in ((a, b), (b, a))]


def searched(search: Search) -> bool:
    """Whether the best plan is proven, after plans in one server each."""
    search.bound = search.knapsack.bound
    pack_whole(search, Clock.of(LIMIT_S))
    return divided(search)


def divided(search: Search) -> bool:
    servers = servers_to_join(search)
    return servers is not None and divide_joined(search, servers, Clock.of(LIMIT_S))


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("draw", [tiny_instance, tiny_crossing])
def test_bound_holds_for_the_enumerated_plan_and_what_is_proven_is_it(
    draw: Callable[[int], Instance], seed: int
) -> None:
    instance = draw(seed)
    if instance.objectives[0].name != "value":
        return
    search, expected = search_of(expand(instance)), brute_force(instance)
    if expected is None:
        return
    is_best = searched(search)
    assert search.bound is not None
    assert search.bound >= expected.values["value"] * (1 - 1e-6) - 1e-9
    if search.assignments is not None:
        assert not is_best or search.value("value") == pytest.approx(expected.values["value"], rel=1e-6, abs=1e-9)
        assert check(instance, plan_of(search.full, search.assignments), starts=True) == []


FAILED = {"failed_tiles": [f"s{server}.t0" for server in range(3)]}
FAILED_OF_TWO = {"failed_tiles": ["s0.t0", "s1.t0"]}
JOBS = [[exchanging("a"), ringing("b", weight=2), serving("c", [1, 3])], [training("a", [2, 4]), ringing("b")]]


def test_what_divisions_prove_at_once_needs_no_better_plan_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plans are ruined and recreated where a short search over divisions proves nothing, and only there."""
    search = search_of(problem_of(*JOBS[0], servers=3, tiles_per_server=2, fibers=fibers((0, 1), (1, 2), count=1)))
    search.assignments = ()
    monkeypatch.setattr(core, "pack_pairs", lambda search, clock: False)
    monkeypatch.setattr(core, "_recreate", lambda *_: pytest.fail("a plan was recreated"))
    assert core._pack_pairs(search, Clock.of(LIMIT_S), is_small=True)


@pytest.mark.parametrize("jobs", JOBS)
@pytest.mark.parametrize("joined", [[], [(0, 1)], [(0, 1), (1, 2)], [(0, 2)]])
def test_racks_with_few_fibers_are_solved_to_the_enumerated_plan(
    joined: list[tuple[int, int]], jobs: list[dict[str, Any]]
) -> None:
    problem = problem_of(*jobs, servers=3, tiles_per_server=2, fibers=fibers(*joined, count=1))
    search, expected = search_of(problem), brute_force(problem.instance)
    assert expected is not None
    assert searched(search)
    assert search.value("value") == pytest.approx(expected.values["value"], rel=1e-6)
    assert search.bound == pytest.approx(expected.values["value"], rel=1e-6)


def test_every_second_threshold_that_the_relaxation_alone_refutes_is_passed_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without fibers the larger job has no place, and the best plan is worth less than half of the knapsack."""
    problem = problem_of(*JOBS[1], servers=3, tiles_per_server=2, fibers=[])
    search, expected, opened = search_of(problem), brute_force(problem.instance), list[float]()
    ways = joined.ways_of_jobs

    def noted(of: Search, least: float, *more: Any) -> Any:
        opened.append(least)
        return ways(of, least, *more)

    monkeypatch.setattr(joined, "ways_of_jobs", noted)
    monkeypatch.setattr(joined, "DEPTHS", (*(number / 100 for number in range(1, 20)), 1.0))
    assert expected is not None
    assert searched(search)
    assert search.value("value") == pytest.approx(expected.values["value"], rel=1e-6)
    assert opened == pytest.approx(
        [*(search.knapsack.bound * (1 - number / 100) for number in range(1, 20, 2)), expected.values["value"]]
    )


def test_rows_whose_parts_may_lie_apart_are_open_beside_those_that_take_less_light() -> None:
    """Two pairs of servers that nothing joins: four replicas in all have a place there, a ring of all four has none."""
    apart = {"fibers": fibers((0, 1), (2, 3)), "wavelengths_per_tile": 4, "wavelengths_per_fiber": 4}
    problem = problem_of(serving("a", 4), servers=4, tiles=1, **apart)
    search, expected = search_of(problem), brute_force(problem.instance)
    assert expected is not None
    search.bound, search.assignments = search.knapsack.bound, ()
    assert divided(search)
    assert search.value("value") == pytest.approx(expected.values["value"], rel=1e-6)
    assert search.bound == pytest.approx(expected.values["value"], rel=1e-6)


@pytest.mark.parametrize("joined", [[], [(0, 1)]])
@pytest.mark.parametrize("servers", [2, 3])
def test_parts_of_a_job_with_as_many_ranks_on_each_server_lie_apart(
    servers: int, joined: list[tuple[int, int]]
) -> None:
    """Two replicas without light in two servers, though one server has room for both beside a job in one server."""
    jobs = [serving("a", 2, weight=3, constraints={"per_server": 1})]
    jobs += [serving(name, 2, constraints={"one_server": True}) for name in "bc"[: servers - 1]]
    problem = problem_of(*jobs, servers=servers, tiles_per_server=2, fibers=fibers(*joined, count=1))
    search, expected = search_of(problem), brute_force(problem.instance)
    assert expected is not None
    searched(search)
    assert search.value("value") == pytest.approx(expected.values["value"], rel=1e-6)
    assert search.assignments is not None
    assert check(problem.instance, plan_of(search.full, search.assignments), starts=True) == []


def test_parts_that_exchange_no_light_need_no_fibers() -> None:
    """Replicas in servers of three that nothing joins, beside single tiles."""
    replicas = serving("a", 4, weight=3)
    problem = problem_of(replicas, serving("b", 1), serving("c", 1), servers=2, health=FAILED_OF_TWO, fibers=[])
    search = search_of(problem)
    assert searched(search)
    assert search.assignments is not None
    lying = {each.job: {name.split(".")[0] for name in each.devices} for each in search.assignments}
    assert lying == {"a": {"s0", "s1"}, "b": lying["b"], "c": lying["c"]}


def test_what_circuits_refuse_is_left_out_and_the_rest_proven(monkeypatch: pytest.MonkeyPatch) -> None:
    """Circuits that refuse every division of one job leave it two tiles of one server, beside all that others want."""
    jobs = [training("a", [2, 4], weight=3), serving("b", [1, 2]), serving("c", 1)]
    problem = problem_of(*jobs, servers=3, tiles_per_server=2, fibers=fibers((0, 1), (1, 2), count=1))
    first, *others = problem.options
    of_two = first.value[first.candidates.num_devices == 2].max()
    assert of_two < first.value.max()

    def refuses(problem: Problem, pattern: Pattern, limits: StepTwoLimits) -> Realized:
        is_divided = 0 in pattern and len(pattern[0].blocks) > 1
        return Realized(None, (0,)) if is_divided else realize(problem, pattern, limits)

    for each in (pairs, reasons):
        monkeypatch.setattr(each, "realize", refuses)
    search = search_of(problem)
    assert searched(search)
    assert search.value("value") == pytest.approx(of_two + sum(each.value.max() for each in others), rel=1e-6)


def test_rows_that_circuits_refuse_as_another_one_are_not_proposed_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Circuits refuse every division of one job: of each, one row of those that may be so valuable is proposed."""
    problem = problem_of(training("a", [2, 4], weight=3), servers=2, tiles_per_server=3, fibers=fibers((0, 1)))
    shapes = problem.options[0].shapes
    proposed, tried = Counter[tuple[int, ...]](), set[tuple[int, tuple[int, ...]]]()

    def division(pattern: Pattern) -> tuple[int, ...]:
        part = shapes[pattern[0].row].part
        return tuple(sorted(count * part for _, count in pattern[0].blocks))

    def refuses(problem: Problem, pattern: Pattern, limits: StepTwoLimits) -> Realized:
        is_divided = 0 in pattern and len(pattern[0].blocks) > 1
        if is_divided:
            tried.add((pattern[0].row, division(pattern)))
        return Realized(None, (0,)) if is_divided else realize(problem, pattern, limits)

    def proposes(problem: Problem, pattern: Pattern, limits: StepTwoLimits) -> Realized:
        realized = refuses(problem, pattern, limits)
        proposed.update([division(pattern)] if realized.nogood else [])
        return realized

    for module in (joined, reasons):
        monkeypatch.setattr(module, "realize", refuses)
    monkeypatch.setattr(pairs, "realize", proposes)
    monkeypatch.setattr(joined, "DEPTHS", (0.01, 1.0))
    search = search_of(problem)
    search.bound, search.assignments = search.knapsack.bound, ()
    assert divided(search)
    assert 1 <= max(proposed.values()) <= len(joined.DEPTHS)
    assert max(Counter(division for _, division in tried).values()) > 2 * len(joined.DEPTHS)


@pytest.mark.parametrize("joined", [[(0, 1)], [(0, 1), (1, 2)], [(0, 2)]])
@pytest.mark.parametrize("jobs", JOBS)
def test_what_circuits_left_open_is_decided_in_the_time_that_is_left(
    jobs: list[dict[str, Any]], joined: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = problem_of(*jobs, servers=3, tiles_per_server=2, fibers=fibers(*joined, count=1))
    search, expected = Search(problem, SolveOptions(time_limit_s=LIMIT_S, workers=1)), brute_force(problem.instance)
    assert expected is not None
    search.assignments = ()
    hesitation = Hesitation(also=lambda pattern: any(len(choice.blocks) > 1 for choice in pattern.values()))
    for each in (pairs, reasons):
        monkeypatch.setattr(each, "realize", hesitation)
    assert searched(search)
    assert hesitation.asked
    assert search.value("value") == pytest.approx(expected.values["value"], rel=1e-6)


def test_where_slots_matter_light_crosses_servers_or_runs_one_way_nothing_is_said() -> None:
    one_way = [{"from": "s0", "to": "s1", "count": 1}]
    for fabric in ({"waveguides": "shared"}, {"transit": 1}, {"fibers": one_way}):
        assert not searched(search_of(problem_of(exchanging("a"), health=FAILED, servers=3, **fabric)))

"""Ways over servers that fibers join: against every choice of them on every servers."""

from collections import Counter
from collections.abc import Iterator
from itertools import permutations, product
from typing import Any

import pytest
from ortools.sat.python import cp_model

from planner.cpsat.divisions.joined import _Asks
from planner.cpsat.divisions.joined_master import JoinedMaster
from planner.cpsat.divisions.joined_servers import JoinedServers
from planner.cpsat.divisions.ways import JobWays, Way, ways_of
from planner.fabrics.pattern import Pattern
from planner.fabrics.problem import Problem
from planner.formulation.solver import new_solver
from planner.formulation.step_one import PairLight
from planner.model.clock import Clock
from tests.planner.cpsat.divisions.division_cases import exchanging, joined_servers, problem_of, ringing
from tests.planner.small_racks import serving, training

RING = [{"from": f"s{a}", "to": f"s{b}", "count": 1} for a, b in ((0, 1), (1, 0), (1, 2), (2, 1))]


def case(problem: Problem) -> tuple[JoinedServers, list[JobWays], list[int]]:
    cluster, servers = problem.cluster, joined_servers(problem)
    links = servers.links
    rooms = [len(cluster.lit_slots(server)) for server in range(cluster.fabric.num_servers)]
    jobs = [
        ways_of(j, options, options.value, float("-inf"), links.counts, sorted(rooms, reverse=True)[:2])
        for j, options in enumerate(problem.options)
    ]
    return servers, [job for job in jobs if job is not None], rooms


def best_of(master: JoinedMaster) -> Pattern | None:
    """The last choices that the master tells of."""
    told = list[Pattern]()

    def note(pattern: Pattern) -> bool:
        told.append(pattern)
        return False

    master.solve(new_solver(), note)
    return told[-1] if told else None


def placements(problem: Problem, links: PairLight, way: Way, servers: int) -> Iterator[tuple[tuple[int, int], ...]]:
    """Ranks by server of a way, wherever fibers carry its light."""
    shape = problem.options[way.job].shapes[way.row]
    for chosen in permutations(range(servers), len(way.division)):
        light = [links.leaving(shape)[ranks // shape.part] for ranks in way.division] if len(chosen) > 1 else [0]
        if len(chosen) == 1 or links.carried.get((min(chosen), max(chosen)), 0) >= max(light):
            yield tuple(zip(chosen, way.division, strict=True))


def most_value(problem: Problem) -> float:
    """Of jobs on one server or two; light of one pair counts job by job, as each job's way needs it."""
    servers, jobs, rooms = case(problem)
    links = servers.links
    options = [[None, *job.open()] for job in jobs]
    best = 0.0
    for chosen in product(*options):
        ways = [way for way in chosen if way is not None]
        value = sum(way.value for way in ways)
        if value <= best:
            continue
        for lying in product(*(list(placements(problem, links, way, len(rooms))) for way in ways)):
            taken = Counter[int]()
            for server, ranks in (part for parts in lying for part in parts):
                taken[server] += ranks
            light = Counter[tuple[int, int]]()
            for way, parts in zip(ways, lying, strict=True):
                if len(parts) == 2:
                    light[min(parts[0][0], parts[1][0]), max(parts[0][0], parts[1][0])] += _least(problem, links, way)
            fits = all(taken[server] <= room for server, room in enumerate(rooms))
            if fits and all(amount <= links.carried.get(pair, 0) for pair, amount in light.items()):
                best = value
                break
    return best


def _least(problem: Problem, links: PairLight, way: Way) -> int:
    shape = problem.options[way.job].shapes[way.row]
    return max(links.leaving(shape)[ranks // shape.part] for ranks in way.division)


@pytest.mark.slow
@pytest.mark.parametrize("fibers", [1, 2, RING])
@pytest.mark.parametrize("failed", [[], ["s0.t0", "s1.t0", "s2.t1"]])
def test_best_choices_are_those_of_enumeration(fibers: object, failed: list[str]) -> None:
    jobs = exchanging("a"), ringing("b", weight=2), exchanging("c", weight=3), serving("d", [1, 3])
    problem = problem_of(*jobs, servers=3, fibers=fibers, health={"failed_tiles": failed})
    servers, ways, _ = case(problem)
    pattern = best_of(JoinedMaster(problem, ways, servers))
    assert pattern is not None
    value = sum(float(problem.options[j].value[choice.row]) for j, choice in pattern.items())
    assert value == pytest.approx(most_value(problem), rel=1e-7)


@pytest.mark.parametrize("stops", [True, False])
@pytest.mark.parametrize("fibers", [1, RING])
def test_no_choices_are_worth_more_than_what_is_returned(fibers: object, stops: bool) -> None:
    """Even where the search is stopped at its first choices."""
    failed = ["s0.t0", "s1.t0", "s2.t1"]
    problem = problem_of(ringing("b"), serving("d", [1, 3]), servers=3, fibers=fibers, health={"failed_tiles": failed})
    servers, ways, _ = case(problem)
    bound, value = JoinedMaster(problem, ways, servers).solve(new_solver(), lambda _: stops), most_value(problem)
    assert bound >= value * (1 - 1e-7)
    assert stops or bound == pytest.approx(value, rel=1e-7)


class WithoutChoices(cp_model.CpSolver):
    """Ends with the bound of a whole search, and no choices."""

    def solve(self, model: cp_model.CpModel, callback: cp_model.CpSolverSolutionCallback | None = None) -> Any:
        super().solve(model)
        for bound in (2 * self.best_objective_bound, self.best_objective_bound):
            if self.best_bound_callback is not None:
                self.best_bound_callback(bound)
        return cp_model.UNKNOWN


def test_a_search_that_ends_without_choices_keeps_its_bound() -> None:
    problem = problem_of(ringing("b"), serving("d", [1, 3]), servers=3, fibers=1)
    servers, ways, _ = case(problem)
    master = JoinedMaster(problem, ways, servers)
    found = master.solve(new_solver(), lambda _: False)
    assert master.solve(WithoutChoices(), lambda _: False) == found


def test_what_is_forbidden_is_chosen_no_more() -> None:
    problem = problem_of(exchanging("a"), health={"failed_tiles": ["s0.t0", "s1.t0"]}, servers=2)
    servers, ways, _ = case(problem)
    master = JoinedMaster(problem, ways, servers)
    first = best_of(master)
    assert first is not None
    assert len(first[0].blocks) == 2
    master.hint(first)
    master.forbid(first, [0])
    second = best_of(master)
    assert second is not None
    assert second != first


def test_what_is_forbidden_on_one_pair_is_on_all_that_carry_no_more() -> None:
    """Three servers of three, joined alike: no pair has both halves of a job of four any more."""
    health = {"failed_tiles": [f"s{server}.t0" for server in range(3)]}
    problem = problem_of(exchanging("a"), health=health, servers=3)
    servers, ways, rooms = case(problem)
    assert len({*servers.links.carried.values()}) == 1
    assert max(rooms) < 4
    master, refused = JoinedMaster(problem, ways, servers), set[tuple[int, ...]]()
    while (found := best_of(master)) and found:
        lies = tuple(sorted(count for _, count in found[0].blocks))
        assert lies not in refused
        refused.add(lies)
        master.forbid(found, [0])


def test_a_full_hint_is_the_first_choice_told() -> None:
    jobs = exchanging("a"), ringing("b", weight=2), serving("c", [1, 3])
    problem = problem_of(*jobs, servers=3, fibers=2, health={"failed_tiles": ["s0.t0", "s1.t0"]})
    servers, ways, _ = case(problem)
    master, told = JoinedMaster(problem, ways, servers), list[Pattern]()
    best = best_of(master)
    assert best is not None

    def stop_at_once(pattern: Pattern) -> bool:
        told.append(pattern)
        return True

    master.hint(best)
    master.solve(new_solver(), stop_at_once)
    assert [{j: choice.row for j, choice in each.items()} for each in told] == [{j: c.row for j, c in best.items()}]


def test_an_error_of_who_is_told_is_raised() -> None:
    problem = problem_of(exchanging("a"), servers=2)
    servers, ways, _ = case(problem)

    def fail(pattern: Pattern) -> bool:
        raise KeyError("told")

    with pytest.raises(KeyError, match="told"):
        JoinedMaster(problem, ways, servers).solve(new_solver(), fail)


def test_required_job_without_room_has_no_choices() -> None:
    problem = problem_of(training("a", 4, required=True, constraints={"one_server": True}))
    servers, ways, _ = case(problem)
    small = problem_of(
        training("a", 4, required=True, constraints={"one_server": True}),
        health={"failed_tiles": [f"s{server}.t0" for server in range(problem.cluster.fabric.num_servers)]},
    )
    assert best_of(JoinedMaster(small, ways, servers)) is None


def test_parts_that_need_devices_alone_have_no_servers_of_their_own() -> None:
    """Replicas fill what is free of servers that nothing joins, parts of one job apart; no set of servers is asked."""
    health = {"failed_tiles": ["s0.t0", "s1.t0", "s2.t0", "s2.t1"]}
    problem = problem_of(serving("a", 4), serving("b", 4), servers=3, fibers=[], health=health)
    servers, options = joined_servers(problem), problem.options
    counts = servers.links.counts
    jobs = [ways_of(j, options[j], options[j].value, float("-inf"), counts, (3, 3, 2)) for j in (0, 1)]
    listed = [job for job in jobs if job is not None]
    for job in listed:
        assert job.open_uncovered(_Asks(job, servers, {}), Clock.of(60))
    master = JoinedMaster(problem, listed, servers)
    assert not master._lying
    best = best_of(master)
    assert best is not None
    taken = Counter[int]()
    for j, choice in best.items():
        assert sum(count for _, count in choice.blocks) == options[j].shapes[choice.row].num_parts
        assert not master.needs_fibers(j, choice)
        for server, count in choice.blocks:
            taken[server] += count * options[j].shapes[choice.row].part
    assert taken == {0: 3, 1: 3, 2: 2}


@pytest.mark.slow
def test_what_is_forbidden_over_three_servers_is_on_all_whose_fibers_carry_no_more() -> None:
    """A ring of three that is refused over servers joined in a line has no place on any line, nor where fewer join."""
    health = {"failed_tiles": [f"s{server}.t{tile}" for server in range(4) for tile in (0, 1, 2)]}
    line = [
        {"from": f"s{x}", "to": f"s{y}", "count": 1} for a, b in ((0, 1), (1, 2), (2, 3)) for x, y in ((a, b), (b, a))
    ]
    problem = problem_of(training("a", 3), servers=4, fibers=line, health=health)
    servers, options = joined_servers(problem), problem.options[0]
    job = ways_of(0, options, options.value, float("-inf"), servers.links.counts, (1, 1, 1))
    assert job is not None
    master, seen = JoinedMaster(problem, [job], servers), list[tuple[int, tuple[int, ...]]]()
    while (found := best_of(master)) and found:
        seen.append((found[0].row, tuple(server for server, _ in found[0].blocks)))
        master.forbid(found, [0])
    assert seen
    assert len({row for row, _ in seen}) == len(seen)

"""Ways that fill servers: against every assignment of parts to servers."""

from collections import Counter
from collections.abc import Iterable
from itertools import product

import pytest

from planner.cpsat.divisions.master import Chosen, Master
from planner.cpsat.divisions.ways import Way
from planner.fabrics.problem import Problem
from planner.formulation.solver import new_solver
from tests.planner.cpsat.divisions.division_cases import exchanging, problem_of, ways
from tests.planner.small_racks import serving, training


def fits(chosen: tuple[Way | None, ...], rooms: tuple[int, ...]) -> bool:
    """Whether all parts find room on some servers, those of one job on the same one or not."""
    parts = [ranks for way in chosen if way is not None for ranks in way.division]
    for servers in product(range(len(rooms)), repeat=len(parts)):
        taken = Counter[int]()
        for server, ranks in zip(servers, parts, strict=True):
            taken[server] += ranks
        if all(taken[server] <= room for server, room in enumerate(rooms)):
            return True
    return False


def value_of(chosen: Iterable[Way]) -> float:
    return sum(way.value for way in chosen)


def num_parts(chosen: Iterable[Way]) -> int:
    return sum(len(way.division) for way in chosen)


def solved(problem: Problem, rooms: tuple[int, ...], *forbidden: Way) -> Chosen:
    jobs = [ways(problem, j, rooms) for j in range(len(problem.options))]
    master = Master(jobs, Counter(rooms))
    if forbidden:
        master.forbid(forbidden)
    found = master.solve(new_solver())
    assert found is not None
    return found


@pytest.mark.parametrize("rooms", [(4, 4), (4, 3, 1), (3, 3), (2, 2, 2)])
def test_best_ways_are_the_least_divided_ones_of_enumeration(rooms: tuple[int, ...]) -> None:
    jobs = exchanging("a"), training("b", [2, 4], constraints={"collective": "ring"}, weight=2), serving("c", [1, 3])
    problem = problem_of(*jobs, servers=len(rooms))
    choices = [[None, *ways(problem, j, rooms).open()] for j in range(3)]
    fitting = [[way for way in chosen if way is not None] for chosen in product(*choices) if fits(chosen, rooms)]
    best = max(map(value_of, fitting))
    found = solved(problem, rooms)
    assert value_of(found.ways) == pytest.approx(best, rel=1e-8)
    assert found.bound == pytest.approx(best, rel=1e-8)
    assert found.bound >= best - 1e-12
    fewest = min(map(num_parts, (chosen for chosen in fitting if value_of(chosen) == pytest.approx(best, rel=1e-8))))
    assert num_parts(found.ways) == fewest


def test_forbidden_ways_exclude_each_other() -> None:
    problem = problem_of(exchanging("a"), exchanging("b"))
    both = solved(problem, (4, 4))
    assert len(both.ways) == 2
    other = solved(problem, (4, 4), *both.ways)
    assert set(other.ways) != set(both.ways)


def test_required_job_without_room_has_no_ways() -> None:
    problem = problem_of(training("a", 4, required=True, constraints={"one_server": True}))
    jobs = [ways(problem, 0, (4, 4))]
    found = Master(jobs, Counter((3, 3))).solve(new_solver()) if list(jobs[0].open()) else None
    assert found is not None
    assert found.bound == float("-inf")

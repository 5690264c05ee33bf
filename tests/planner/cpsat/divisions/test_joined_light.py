"""Light of a job over more than two servers: whatever circuits allow of one job alone, the master allows."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product
from typing import Any

import pytest

from planner.cpsat.divisions.joined_master import JoinedMaster
from planner.cpsat.divisions.ways import JobWays, Way, ways_of
from planner.cpsat.step2.realize import realize
from planner.fabrics.pattern import Choice
from planner.fabrics.problem import Problem
from planner.formulation.solver import new_solver
from planner.formulation.step_two import FOUND, StepTwoLimits
from tests.planner.cpsat.divisions.division_cases import exchanging, joined_servers, problem_of, ringing
from tests.planner.small_racks import training

MOST_WAYS = 8
"""of a job that are tried"""
LIMITS = StepTwoLimits(60.0, None, 1, 0)
LINE = ((0, 1), (1, 2), (2, 3))
RING = (*LINE, (0, 3))
STAR = ((0, 1), (0, 2), (0, 3))
TAIL = ((0, 1), (0, 2), (1, 2), (2, 3))
PLANTS = [LINE, RING, STAR, TAIL]


def rack_of(plant: tuple[tuple[int, int], ...], *jobs: dict[str, Any]) -> Problem:
    """Four servers of three tiles; a fiber carries as much as a tile sends."""
    fibers = [{"from": f"s{x}", "to": f"s{y}", "count": 1} for a, b in plant for x, y in ((a, b), (b, a))]
    light = {"wavelengths_per_tile": 4, "wavelengths_per_fiber": 4, "tiles_per_server": 3, "tile_rows": 1}
    return problem_of(*jobs, servers=4, fibers=fibers, **light)


def ways_over_all(problem: Problem, j: int = 0) -> JobWays:
    """Every row in every division."""
    options, servers = problem.options[j], joined_servers(problem)
    found = ways_of(j, options, options.value, float("-inf"), servers.links.counts, (3, 3, 3, 3))
    assert found is not None
    for division in found._open:
        found._open[division] = [r for r in found.rows[sum(division)] if found._allows(r, division)]
    return found


def choices(problem: Problem, way: Way) -> Iterator[Choice]:
    """A way on all servers in every order."""
    part = problem.options[way.job].shapes[way.row].part
    for counts in product(range(4), repeat=4):
        division = tuple(sorted((count * part for count in counts if count), reverse=True))
        if division == way.division:
            yield Choice(way.row, False, tuple((server, count) for server, count in enumerate(counts) if count))


def allows(problem: Problem, ways: Sequence[JobWays], pattern: Mapping[Way, Choice]) -> bool:
    """Whether the master has a solution with these choices."""
    master = JoinedMaster(problem, ways, joined_servers(problem), least=1e-6)
    for way, choice in pattern.items():
        keys = master._parts_of(way.job, choice)
        if way not in master._literals or not keys:
            return False
        for literal in (master._literals[way], *(master._parts[key] for key in keys)):
            master.cp.add(literal == 1)
    return new_solver().solve(master.cp) in FOUND


@pytest.mark.parametrize("plant", PLANTS)
@pytest.mark.parametrize("job", [ringing(), exchanging(), training("x", 4)])
def test_what_circuits_allow_of_one_job_the_master_allows(
    job: dict[str, Any], plant: tuple[tuple[int, int], ...]
) -> None:
    problem = rack_of(plant, job)
    servers, jobs = joined_servers(problem), ways_over_all(problem)
    shapes = problem.options[0].shapes
    several = {(shapes[way.row], way.division): way for way in jobs.open() if len(way.division) > 2}
    assert several
    for (shape, division), way in islice(several.items(), 0, None, max(1, len(several) // MOST_WAYS)):
        for choice in choices(problem, way):
            if realize(problem, {0: choice}, LIMITS).assignments is not None:
                place = servers.places(division, shape)[tuple(server for server, _ in choice.blocks)]
                assert all(count * shape.part in place.numbers[server] for server, count in choice.blocks)
                assert allows(problem, [jobs], {way: choice}), (choice, shape)


def ring_over(problem: Problem, *counts: int, width: int = 4) -> tuple[JobWays, Way, Choice]:
    """A ring of four ranks of so many wavelengths, as many of them on each server as is said."""
    jobs, division = ways_over_all(problem), tuple(sorted(filter(None, counts), reverse=True))
    way = next(
        way for way in jobs.open()
        if way.division == division and [plan.wavelengths for plan in _rings(problem, way)] == [(width,)]
    )  # fmt: skip
    return jobs, way, Choice(way.row, False, tuple((server, count) for server, count in enumerate(counts) if count))


def _rings(problem: Problem, way: Way) -> list[Any]:
    return [plan for plan in problem.options[0].shapes[way.row].plans if plan.ranks > 1 and plan.kind == "ring"]


@pytest.mark.parametrize(
    ("counts", "is_allowed"),
    [((1, 2, 1, 0), True), ((2, 1, 1, 0), False), ((0, 1, 1, 2), False), ((1, 1, 1, 1), False)],
)
def test_a_ring_passes_a_server_of_a_line_only_if_that_has_two_of_its_ranks(
    counts: tuple[int, ...], is_allowed: bool
) -> None:
    problem = rack_of(LINE, ringing())
    jobs, way, choice = ring_over(problem, *counts)
    assert (realize(problem, {0: choice}, LIMITS).assignments is not None) == is_allowed
    assert allows(problem, [jobs], {way: choice}) == is_allowed


def test_a_ring_around_all_servers_leaves_one_direction_of_every_fiber() -> None:
    """Beside it, no fibers have both directions free for a job over two servers."""
    problem = rack_of(RING, ringing("a"), ringing("b"))
    jobs, way, choice = ring_over(problem, 1, 1, 1, 1)
    others = ways_over_all(problem, 1)
    assert allows(problem, [jobs, others], {way: choice})
    for other in others.open():
        if other.division == (2, 2) and other.row == way.row:
            for lying in choices(problem, other):
                pattern = {0: choice, 1: lying}
                assert realize(problem, pattern, LIMITS).assignments is None
                assert not allows(problem, [jobs, others], {way: choice, other: lying})

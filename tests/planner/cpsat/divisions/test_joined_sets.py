"""Servers that fibers join hold whole jobs: bounds by hand, and no choices ruled out that have a place."""

from itertools import combinations

import pytest
from ortools.sat.python import cp_model

from planner.cpsat.divisions.joined_servers import JoinedServers, Needs, OnServers
from planner.cpsat.divisions.joined_sets import fill_joined_sets
from planner.cpsat.divisions.ways import Way
from planner.formulation.relaxation import relaxed
from planner.formulation.step_one import PairLight

NUM_JOBS = 6
LINE = {(0, 1): 4, (1, 2): 4}


def most_ranks(division: tuple[int, ...], rooms: dict[int, int], *, may_part: bool, dark: int = 0) -> float:
    """Most ranks of jobs that are so divided, beside parts of one that needs no fibers, by the relaxation; servers 0, 1
    and 2 are joined."""
    cp, needs = cp_model.CpModel(), Needs(0 if may_part else 1, may_part)
    servers = JoinedServers(PairLight(lambda _: {}, lambda _: (), lambda _: (), LINE, is_all=True), [*rooms])
    lit = [Way(job, division, 0, 1.0) for job in range(NUM_JOBS)]
    others = [Way(NUM_JOBS + job, (1,), 0, 1.0) for job in range(dark)]
    literals = {way: cp.new_bool_var("") for way in (*lit, *others)}
    lying = {
        OnServers(way.job, needs, on): cp.new_bool_var("")
        for way in lit
        for on in combinations(range(3), len(division))
    }
    for way in lit:
        cp.add(sum(each for on, each in lying.items() if on.job == way.job) == literals[way])
    fill_joined_sets(cp, servers, rooms, literals, dict.fromkeys(lit, needs), lying)
    cp.maximize(sum(sum(way.division) * literal for way, literal in literals.items()))
    found = relaxed(cp, 10.0)
    assert found is not None
    return -found.least


@pytest.mark.parametrize(
    ("division", "dark", "most"), [((1, 1), 0, 8.0), ((2, 1), 0, 9.0), ((1, 1), 1, 9.0), ((3, 2), 0, 5.0)]
)
def test_whole_jobs_fill_joined_servers_of_nine_devices(division: tuple[int, ...], dark: int, most: float) -> None:
    assert most_ranks(division, {0: 3, 1: 3, 2: 3}, may_part=False, dark=dark) == pytest.approx(most)


def test_parts_that_may_lie_apart_fill_all_servers() -> None:
    rooms = {0: 3, 1: 3, 2: 3, 3: 3}
    assert most_ranks((1, 1), rooms, may_part=False) == pytest.approx(8.0)
    assert most_ranks((1, 1), rooms, may_part=True) == pytest.approx(12.0)

"""Light that crosses third servers leaves each of them again, and goes no farther than circuits may."""

import pytest

from tests.planner.cpsat.step1.case import Case, problem_of, row_of
from tests.planner.small_racks import training


@pytest.mark.parametrize(
    ("transit", "reserved", "solvable"),
    [
        (0, {(0, 0, 1): 2, (0, 1, 2): 2, (0, 2, 1): 2, (0, 1, 0): 2}, False),
        (1, {(0, 0, 1): 2, (0, 1, 2): 2, (0, 2, 1): 2, (0, 1, 0): 2}, True),
        (1, {(0, 0, 1): 2, (0, 2, 1): 2}, False),
        (1, {(0, 0, 1): 2, (0, 1, 0): 2, (0, 2, 1): 2, (0, 1, 2): 1}, False),
    ],
)
def test_path_of_a_ring_flows_on_through_third_servers(
    transit: int, reserved: dict[tuple[int, int, int], int], solvable: bool
) -> None:
    """Two ranks on s0 and two on s2, joined over s1: what enters s1 must leave it again."""
    near = [("s0", "s1"), ("s1", "s0"), ("s1", "s2"), ("s2", "s1")]
    bundles = [{"from": a, "to": b, "count": 1} for a, b in near]
    job = training("x", 4, constraints={"collective": "ring"})
    problem = problem_of(job, servers=3, fibers=bundles, transit=transit)
    row = row_of(problem, 0, tensor=4, block=1, ring=2)
    blocks = {0: 2, 2: 2}
    case = Case(problem, "path").choose({0: (row,)}).place({0: blocks}, {0: row}).touch({0: blocks})
    assert case.light(reserved).is_solvable() == solvable


@pytest.mark.parametrize(("transit", "solvable"), [(1, False), (2, True)])
def test_path_goes_no_farther_than_circuits_may(transit: int, solvable: bool) -> None:
    near = [(f"s{a}", f"s{b}") for a in range(4) for b in range(4) if abs(a - b) == 1]
    bundles = [{"from": a, "to": b, "count": 1} for a, b in near]
    job = training("x", 4, constraints={"collective": "ring"})
    problem = problem_of(job, servers=4, fibers=bundles, transit=transit)
    row = row_of(problem, 0, tensor=4, block=1, ring=2)
    blocks = {0: 2, 3: 2}
    case = Case(problem, "path").choose({0: (row,)}).place({0: blocks}, {0: row}).touch({0: blocks})
    assert case.is_solvable() == solvable

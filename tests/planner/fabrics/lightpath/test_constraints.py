"""Light between servers: all jobs fit into the fibers, and each has the circuits that its blocks need."""

import pytest

from planner.fabrics.lightpath.step1_variables import light_variables
from tests.planner.cpsat.step1.case import Case, problem_of, row_of
from tests.planner.fabrics.lightpath.constraints_cases import ring_resident
from tests.planner.small_racks import training


@pytest.mark.parametrize(
    ("fibers", "per_fiber", "reserved", "solvable"),
    [(1, 4, (2, 2), True), (1, 4, (2, 3), False), (2, 4, (4, 4), True), (1, 2, (1, 2), False), (2, 2, (2, 2), True)],
)
def test_sharing_carry_all_jobs(fibers: int, per_fiber: int, reserved: tuple[int, int], solvable: bool) -> None:
    problem = problem_of(training("x", 4), training("y", 4), fibers=fibers, wavelengths_per_fiber=per_fiber)
    light = {(j, 0, 1): width for j, width in enumerate(reserved)}
    case = Case(problem, "sharing")
    assert all([*light_variables(case.v).jobs[j].reserved[0, 1].proto.domain][1] >= max(reserved) for j in (0, 1))
    assert case.light(light).is_solvable() == solvable


def test_sharing_that_may_be_lit_limit_the_light() -> None:
    problem = problem_of(training("x", 4), fibers=2, wavelengths_per_fiber=2)
    for most, solvable in ((1, False), (2, True)):
        case = Case(problem, "sharing").light({(0, 0, 1): 3})
        case.cp.add(case.v.of_fabric.lit[0, 1] <= most)
        assert case.is_solvable() == solvable


@pytest.mark.parametrize(("reserved", "stays", "solvable"), [(2, True, True), (3, True, False), (3, False, True)])
def test_sharing_carry_residents_that_stay(reserved: int, stays: bool, solvable: bool) -> None:
    problem = problem_of(training("x", 4), residents=[ring_resident()], fibers=1)
    case = Case(problem, "sharing").choose({}, (0,) if stays else ())
    assert case.light({(1, 0, 1): reserved}).is_solvable() == solvable


@pytest.mark.parametrize(
    ("blocks", "reserved", "solvable"),
    [
        ({0: 4}, {}, True),
        ({0: 4}, {(0, 0, 1): 2, (0, 1, 0): 2}, False),
        ({0: 2, 1: 2}, {(0, 0, 1): 2, (0, 1, 0): 2}, True),
        ({0: 3, 1: 1}, {(0, 0, 1): 2, (0, 1, 0): 2}, True),
        ({0: 2, 1: 2}, {(0, 0, 1): 1, (0, 1, 0): 2}, False),
        ({0: 2, 1: 2}, {(0, 0, 1): 2}, False),
        ({0: 2, 1: 2}, {(0, 0, 1): 3, (0, 1, 0): 2}, False),
        ({0: 2, 1: 2}, {(0, 0, 1): 2, (0, 1, 0): 2, (0, 0, 2): 2}, False),
        ({0: 2, 1: 1, 2: 1}, {(0, 0, 1): 2, (0, 1, 2): 2, (0, 2, 0): 2}, True),
        ({0: 2, 1: 1, 2: 1}, {(0, 0, 1): 2, (0, 1, 0): 2}, False),
    ],
)
def test_path_of_a_ring_leaves_and_enters_every_server(
    blocks: dict[int, int], reserved: dict[tuple[int, int, int], int], solvable: bool
) -> None:
    """Circuits of two wavelengths: whole circuits between servers that the job lies on."""
    problem = problem_of(training("x", 4, constraints={"collective": "ring"}), servers=3, fibers=1)
    row = row_of(problem, 0, tensor=4, block=1, ring=2)
    case = Case(problem, "path").choose({0: (row,)}).place({0: blocks}, {0: row}).touch({0: blocks})
    assert case.light(reserved).is_solvable() == solvable


@pytest.mark.parametrize(("ones", "twos", "solvable"), [(3, 3, False), (3, 4, False), (4, 4, True)])
def test_path_of_complete_groups_depends_on_the_blocks(ones: int, twos: int, solvable: bool) -> None:
    """Four ranks that all exchange with each other: four circuits leave two of them."""
    problem = problem_of(training("x", 4, constraints={"collective": "exchange"}), fibers=2, wavelengths_per_tile=3)
    row = next(r for r, s in enumerate(problem.options[0].shapes) if s.tensor == 4 and s.plans[0].radices == (4,))
    assert problem.options[0].shapes[row].boundary.tolist() == [0, 3, 4, 3, 0]
    blocks = {0: 2, 1: 2}
    case = Case(problem, "path").choose({0: (row,)}).place({0: blocks}, {0: row}).touch({0: blocks})
    assert case.light({(0, 0, 1): ones, (0, 1, 0): twos}).is_solvable() == solvable


def test_path_of_wide_circuits_does_not_fill_a_fiber() -> None:
    """Circuits of two wavelengths on fibers of three: one on each fiber."""
    problem = problem_of(training("x", 4, constraints={"collective": "ring"}), fibers=1, wavelengths_per_fiber=3)
    for width, solvable in ((1, True), (2, True), (4, False)):
        row = row_of(problem, 0, tensor=4, block=1, ring=width)
        blocks = {0: 2, 1: 2}
        case = Case(problem, "path").choose({0: (row,)}).place({0: blocks}, {0: row}).touch({0: blocks})
        assert case.is_solvable() == solvable

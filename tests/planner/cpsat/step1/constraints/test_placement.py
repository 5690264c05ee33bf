"""Blocks add up to the configuration, and fit into the healthy accelerators of each server."""

import pytest

from tests.planner.cpsat.step1.case import Case, Placed, problem_of, row_of
from tests.planner.small_racks import serving, single, training


@pytest.mark.parametrize(
    ("blocks", "solvable"),
    [({0: 4}, True), ({0: 3, 1: 1}, True), ({0: 3}, False), ({0: 4, 1: 1}, False), ({}, False)],
)
def test_placement_add_up_to_the_blocks_of_the_row(blocks: dict[int, int], solvable: bool) -> None:
    problem = problem_of(training("x", 4))
    row = row_of(problem, 0, tensor=4, block=1)
    case = Case(problem, "placement").choose({0: (row,)}).place({0: blocks}, {0: row})
    assert case.is_solvable() == solvable


@pytest.mark.parametrize(("failed", "solvable"), [([], True), (["s0.t0"], False), (["s1.t0"], True)])
def test_placement_fit_into_healthy_devices(failed: list[str], solvable: bool) -> None:
    problem = problem_of(serving("x", 2), serving("y", 2), health={"failed_tiles": failed})
    rows = {j: row_of(problem, j, tensor=1) for j in (0, 1)}
    placed = {0: {0: 2}, 1: {0: 2}}
    case = Case(problem, "placement").choose({j: (r,) for j, r in rows.items()}).place(placed, rows)
    assert case.is_solvable() == solvable


@pytest.mark.parametrize(
    ("pair_server", "single_server", "solvable"), [(0, 1, True), (1, 1, True), (1, 0, True), (0, 0, True)]
)
def test_placement_of_single_ranks_need_no_port(pair_server: int, single_server: int, solvable: bool) -> None:
    problem = problem_of(serving("x", 2), serving("y", 1), tiles=3, health={"failed_ports": ["s0.t0", "s1.t0"]})
    rows = {0: row_of(problem, 0, tensor=1), 1: 0}
    placed = {0: {pair_server: 2}, 1: {single_server: 1}}
    case = Case(problem, "placement").choose({0: (rows[0],), 1: (0,)}).place(placed, rows)
    assert case.is_solvable() == solvable


def test_placement_of_pairs_need_ports() -> None:
    for failed, solvable in ((["s0.t0"], True), (["s0.t0", "s0.t1"], False)):
        problem = problem_of(serving("x", 2), tiles=3, health={"failed_ports": failed})
        row = row_of(problem, 0, tensor=1)
        case = Case(problem, "placement").choose({0: (row,)}).place({0: {0: 2}}, {0: row})
        assert case.is_solvable() == solvable


@pytest.mark.parametrize(("stays", "solvable"), [(True, False), (False, True)])
def test_placement_of_a_resident_count_while_it_stays(stays: bool, solvable: bool) -> None:
    problem = problem_of(serving("x", 4), residents=[single("r", "s0.t0")])
    row = row_of(problem, 1, tensor=1)
    rows: dict[int, tuple[int, ...]] = {1: (row,)} | ({} if stays else {0: (0,)})
    placed: Placed = {1: {0: 4}} | ({} if stays else {0: {1: 1}})
    case = Case(problem, "placement").choose(rows, (0,) if stays else ())
    assert case.place(placed, {1: row} | ({} if stays else {0: 0})).is_solvable() == solvable


@pytest.mark.parametrize(
    ("blocks", "said", "solvable"),
    [
        ({0: 4}, {0: 4}, True),
        ({0: 2, 1: 2}, {0: 2, 1: 2}, True),
        ({0: 4}, {0: 4, 1: 0}, False),
        ({0: 2, 1: 2}, {0: 4}, False),
        ({0: 4}, {1: 4}, False),
        ({}, {0: 0}, False),
    ],
)
def test_placement_says_which_servers_a_job_touches(
    blocks: dict[int, int], said: dict[int, int], solvable: bool
) -> None:
    problem = problem_of(training("x", 4))
    row = row_of(problem, 0, tensor=4, block=1)
    rows = (row,) if blocks else ()
    case = Case(problem, "placement").choose({0: rows}).place({0: blocks}, {0: row}).touch({0: said})
    assert case.is_solvable() == solvable

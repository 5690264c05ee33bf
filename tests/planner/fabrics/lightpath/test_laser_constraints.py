"""Tiles without enough lasers host no rank that needs them."""

import pytest

from tests.planner.cpsat.step1.case import Case, problem_of, row_of
from tests.planner.small_racks import training


@pytest.mark.parametrize(
    ("key", "lost", "width", "blocks", "solvable"),
    [
        ("failed_lasers", (0,), 4, {0: 4}, False),
        ("failed_receivers", (0,), 4, {0: 4}, False),
        ("failed_lasers", (0,), 4, {0: 3, 1: 1}, True),
        ("failed_lasers", (0, 1), 2, {0: 4}, True),
        ("failed_lasers", (0, 1, 2), 2, {0: 4}, False),
    ],
)
def test_tiles_without_enough_lasers_host_no_rank_that_needs_them(
    key: str, lost: tuple[int, ...], width: int, blocks: dict[int, int], solvable: bool
) -> None:
    health = {key: [{"tile": "s0.t1", "wavelength": w} for w in lost]}
    problem = problem_of(training("x", 4, constraints={"collective": "ring"}), fibers=2, health=health)
    row = row_of(problem, 0, tensor=4, block=1, ring=width)
    case = Case(problem, "lasers").choose({0: (row,)}).place({0: blocks}, {0: row})
    assert case.is_solvable() == solvable

"""Each job has at most one configuration, required jobs exactly one, residents stay or move."""

import pytest

from tests.planner.cpsat.step1.case import Case, problem_of
from tests.planner.small_racks import serving, single


@pytest.mark.parametrize(
    ("required", "rows", "solvable"),
    [
        (False, (), True), (False, (0,), True), (False, (0, 1), False),
        (True, (), False), (True, (1,), True), (True, (0, 1), False),
    ],
)  # fmt: skip
def test_admission_of_a_job(required: bool, rows: tuple[int, ...], solvable: bool) -> None:
    problem = problem_of(serving("x", [1, 2], required=required))
    assert Case(problem, "admission").choose({0: rows}).is_solvable() == solvable


@pytest.mark.parametrize(
    ("movable", "rows", "stays", "solvable"),
    [
        (True, (), (), False), (True, (), (0,), True), (True, (0,), (), True), (True, (0,), (0,), False),
        (False, (), (0,), True), (False, (0,), (), False),
    ],
)  # fmt: skip
def test_admission_of_a_resident(movable: bool, rows: tuple[int, ...], stays: tuple[int, ...], solvable: bool) -> None:
    problem = problem_of(residents=[single("r", "s0.t0", movable=movable)])
    assert Case(problem, "admission").choose({0: rows}, stays).is_solvable() == solvable


def test_admission_of_a_required_job_without_candidates() -> None:
    problem = problem_of(serving("x", 1, model="llama-3.1-70b", required=True))
    assert not Case(problem, "admission").is_solvable()

"""Jobs that must keep to one rack do."""

import pytest

from tests.planner.cpsat.step1.case import Case, problem_of
from tests.planner.small_racks import training


@pytest.mark.parametrize(("servers", "solvable"), [((0, 1), True), ((2, 3), True), ((1, 2), False), ((3,), True)])
def test_rack_hold_a_job_together(servers: tuple[int, ...], solvable: bool) -> None:
    problem = problem_of(training("x", 4), racks=2)
    case = Case(problem, "rack").touch({0: dict.fromkeys(servers, 1)})
    assert case.is_solvable() == solvable

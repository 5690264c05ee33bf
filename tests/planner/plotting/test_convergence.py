"""Convergence as a figure."""

from matplotlib.figure import Figure

from planner.model.result import Result, Status
from planner.plotting.convergence import convergence
from tests.planner.report import rack


def test_objective_and_bound_of_the_first_level_are_drawn() -> None:
    ax = convergence(Figure().subplots(), rack.result())
    objective, bound = ax.get_lines()
    assert list(objective.get_ydata()) == [1.5, 2.0, 2.0, 2.0]
    assert list(bound.get_ydata()) == [2.25, 2.0, 2.0]
    assert ax.get_ylabel() == "value"


def test_without_a_trace_the_axes_stay_empty() -> None:
    assert not convergence(Figure().subplots(), Result(Status.NO_PLAN, "cpsat")).get_lines()

"""Value of what runs."""

from ortools.sat.python import cp_model

from planner.fabrics.problem import Problem
from planner.formulation.terms import Term, sum_over_rows
from planner.formulation.variables import Variables


def value(model: cp_model.CpModel, v: Variables, problem: Problem) -> Term:
    r"""Maximize $\sum_j weight_j\, g(speed_{jk} / speed_j^{max})$ over the chosen candidates."""
    return sum_over_rows(v, "value", is_maximized=True)

"""Energy per unit of work of what runs."""

from ortools.sat.python import cp_model

from planner.fabrics.problem import Problem
from planner.formulation.terms import Term, sum_over_rows
from planner.formulation.variables import Variables


def energy(model: cp_model.CpModel, v: Variables, problem: Problem) -> Term:
    r"""Minimize $\sum_j weight_j\, e_{jk} / e_j^{min}$ over the chosen candidates, e in joules per unit of work."""
    return sum_over_rows(v, "energy", is_maximized=False)

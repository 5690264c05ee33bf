"""Energy per unit of work of what runs."""

from ortools.sat.python import cp_model

from planner.fabrics.problem import JobOptions, Problem
from planner.formulation.objective import SummedObjective
from planner.formulation.terms import Term, sum_over_rows
from planner.formulation.variables import Variables
from planner.model.plan import Assignment


class Energy(SummedObjective):
    r"""Minimize $\sum_j weight_j\, e_{jk} / e_j^{min}$ over the chosen candidates, e in joules per unit of work."""

    def term(self, model: cp_model.CpModel, v: Variables, problem: Problem) -> Term:
        return sum_over_rows(v, "energy", is_maximized=self.is_maximized)

    def amount(self, options: JobOptions, assignment: Assignment) -> float:
        row = options.row_of(assignment.configuration)
        assert row is not None
        return float(options.energy[row])

"""Value of what runs."""

from collections.abc import Sequence
from typing import ClassVar

from ortools.sat.python import cp_model

from planner.fabrics.problem import JobOptions, Problem
from planner.formulation.objective import SummedObjective
from planner.formulation.terms import Term, sum_over_rows
from planner.formulation.variables import Variables
from planner.model.plan import Assignment


class Value(SummedObjective):
    r"""Maximize $\sum_j weight_j\, g(speed_{jk} / speed_j^{max})$ over the chosen candidates."""

    is_maximized: ClassVar = True

    def term(self, model: cp_model.CpModel, v: Variables, problem: Problem) -> Term:
        return sum_over_rows(v, "value", is_maximized=self.is_maximized)

    def amount(self, options: JobOptions, assignment: Assignment) -> float:
        return assignment.value

    def amounts(self, problem: Problem, assignments: Sequence[Assignment]) -> list[float]:
        return [assignment.value for assignment in assignments]

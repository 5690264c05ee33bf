"""Cost of moving residents."""

from ortools.sat.python import cp_model

from planner.fabrics.problem import JobOptions, Problem
from planner.formulation.objective import SummedObjective
from planner.formulation.terms import Term, sum_of
from planner.formulation.variables import Variables
from planner.model.job import Resident
from planner.model.plan import Assignment


class Moves(SummedObjective):
    r"""Minimize $\sum_j cost_j (1 - stay_j)$ over residents."""

    def term(self, model: cp_model.CpModel, v: Variables, problem: Problem) -> Term:
        residents = [(job, job.options.job) for job in v.jobs if isinstance(job.options.job, Resident)]
        parts = [[(r.move_cost, 1 - job.stay if job.stay is not None else 1)] for job, r in residents]
        return sum_of(parts, is_maximized=self.is_maximized)

    def amount(self, options: JobOptions, assignment: Assignment) -> float:
        if not assignment.is_moved:
            return 0
        assert isinstance(options.job, Resident)
        return options.job.move_cost

"""Cost of moving residents."""

from ortools.sat.python import cp_model

from planner.fabrics.problem import Problem
from planner.formulation.terms import Term, sum_of
from planner.formulation.variables import Variables
from planner.model.job import Resident


def moves(model: cp_model.CpModel, v: Variables, problem: Problem) -> Term:
    r"""Minimize $\sum_j cost_j (1 - stay_j)$ over residents."""
    residents = [(job, job.options.job) for job in v.jobs if isinstance(job.options.job, Resident)]
    parts = [[(r.move_cost, 1 - job.stay if job.stay is not None else 1)] for job, r in residents]
    return sum_of(parts, is_maximized=False)

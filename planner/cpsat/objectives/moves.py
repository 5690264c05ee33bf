"""Cost of moving residents."""

from ortools.sat.python import cp_model

from planner.cpsat.objectives.base import Term
from planner.cpsat.quantize import scale_for
from planner.cpsat.variables import Variables
from planner.instance import Resident
from planner.problem import Problem


def moves(model: cp_model.CpModel, v: Variables, problem: Problem) -> Term:
    r"""Minimize $\sum_j cost_j (1 - stay_j)$ over residents."""
    residents = [(job, job.options.job) for job in v.jobs if isinstance(job.options.job, Resident)]
    costs = [resident.move_cost for _, resident in residents]
    scale = scale_for(max(costs, default=0.0), sum(costs), rounds_up=False)
    steps = scale.to_ints(costs)
    expression: cp_model.LinearExprT = sum(
        step * (1 - job.stay if job.stay is not None else 1) for step, (job, _) in zip(steps, residents, strict=True)
    )
    return Term(expression, scale, is_maximized=False, rounding=(len(residents) + 1) * scale.resolution)

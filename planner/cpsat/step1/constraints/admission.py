"""Which jobs run, and how many ways at once: one."""

from ortools.sat.python import cp_model

from planner.fabrics.problem import Problem
from planner.formulation.variables import Variables


def admission(model: cp_model.CpModel, v: Variables, problem: Problem) -> None:
    r"""One configuration at most: $\sum_k z_{jk} + stay_j \le 1$; equal to 1 for required jobs and residents.

    An immovable resident stays.
    """
    for job in v.jobs:
        if job.options.must_run:
            model.add(job.admitted == 1)
        else:
            model.add_at_most_one(job.rows)
        if job.options.must_stay:
            if job.stay is None:
                model.add_bool_or([])
            else:
                model.add(job.stay == 1)

"""Jobs and racks."""

from ortools.sat.python import cp_model

from planner.fabrics.problem import Problem
from planner.formulation.variables import Variables


def rack(model: cp_model.CpModel, v: Variables, problem: Problem) -> None:
    r"""A job stays in one rack unless racks are linked: $t_{js} \le r_{j,rack(s)}$, $\sum_r r_{jr} \le 1$."""
    fabric = problem.cluster.fabric
    if fabric.links_racks or fabric.racks == 1:
        return
    for job in v.jobs:
        chosen = [model.new_bool_var("") for _ in range(fabric.racks)]
        model.add_at_most_one(chosen)
        for server, touched in enumerate(job.touched):
            model.add_implication(touched, chosen[fabric.rack_of(server)])

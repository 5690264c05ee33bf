"""Which servers and which rack a job touches."""

from ortools.sat.python import cp_model

from planner.fabrics.problem import Problem
from planner.formulation.variables import Variables


def locality(model: cp_model.CpModel, v: Variables, problem: Problem) -> None:
    r"""Touch and span: $y_{js} \le Y_s t_{js}$, $t_{js} \le y_{js}$, $\sum_s whole_{js} + spans_j = placed_j$.

    A job that lies whole on one server touches no other; one that spans touches at least two.
    """
    for job in v.jobs:
        placed = sum(job.rows)
        for server, touched in enumerate(job.touched):
            counts = [blocks[server] for blocks in job.blocks.values()]
            for count in counts:
                model.add(count == 0).only_enforce_if(~touched)
            model.add(sum(counts) >= touched)
        model.add(sum(job.whole) + job.spans == placed)
        for touched, whole in zip(job.touched, job.whole, strict=True):
            model.add_implication(whole, touched)
        model.add(sum(job.touched) <= 1).only_enforce_if(~job.spans)
        model.add(sum(job.touched) >= placed + job.spans)


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

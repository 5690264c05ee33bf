"""Jobs and racks: a job lies in one, or in equal parts in several that an upper layer joins."""

from ortools.sat.python import cp_model

from planner.fabrics.problem import Problem
from planner.formulation.variables import BlockKind, JobVariables, Variables, total


def rack(model: cp_model.CpModel, v: Variables, problem: Problem) -> None:
    r"""A job stays in one rack unless racks are linked: $t_{js} \le r_{j,rack(s)}$, $\sum_r r_{jr} \le 1$.

    Where an upper layer joins racks, a row for R racks has $\sum_r r_{jr} = R$, and as many blocks in each.
    """
    fabric = problem.cluster.fabric
    if fabric.links_racks or fabric.racks == 1:
        return
    for job in v.jobs:
        inside = [model.new_bool_var("") for _ in range(fabric.racks)] if job.racks is None else job.racks.inside
        for server, touched in enumerate(job.touched):
            model.add_implication(touched, inside[fabric.rack_of(server)])
        if job.racks is None:
            model.add_at_most_one(inside)
        else:
            model.add(sum(inside) == total(d.racks * row for d, row in zip(job.options.shapes, job.rows, strict=True)))
            _equal_parts(model, job, inside, fabric.servers)


def _equal_parts(model: cp_model.CpModel, job: JobVariables, inside: list[cp_model.IntVar], servers: int) -> None:
    """As many blocks in each rack of the job."""
    alike: dict[tuple[BlockKind, int], list[cp_model.IntVar]] = {}
    for demand, row in zip(job.options.shapes, job.rows, strict=True):
        if demand.racks > 1:
            alike.setdefault((BlockKind.of(demand), demand.num_parts // demand.racks), []).append(row)
    for (kind, number), rows in alike.items():
        chosen = model.new_bool_var("")
        model.add(sum(rows) == chosen)
        for rack, here in enumerate(inside):
            blocks = job.blocks[kind][rack * servers : (rack + 1) * servers]
            model.add(sum(blocks) == number).only_enforce_if(chosen, here)

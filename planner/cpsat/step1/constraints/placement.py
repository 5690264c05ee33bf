"""Where the ranks of a job lie: blocks by server, within what is healthy, as in bin packing."""

from ortools.sat.python import cp_model

from planner.fabrics.problem import Problem
from planner.formulation.variables import BlockKind, JobVariables, Variables, total


def placement(model: cp_model.CpModel, v: Variables, problem: Problem) -> None:
    r"""Blocks add up, $\sum_s y_{jbs} = \sum_{k: block_k=b} (n_k / b) z_{jk}$, and fit, $\sum_j x_{js} \le healthy_s$.

    Jobs of two or more ranks count against devices with a working port. The total over all servers is
    redundant and tightens the relaxation. What servers a job touches follows from its blocks.
    """
    for job in v.jobs:
        for kind, blocks in job.blocks.items():
            shapes = job.options.shapes
            chosen = sum(
                shape.num_parts * row
                for shape, row in zip(shapes, job.rows, strict=True)
                if BlockKind.of(shape) == kind
            )
            model.add(sum(blocks) == chosen)
    cluster = problem.cluster
    for server in range(cluster.fabric.num_servers):
        model.add(total(job.devices(server) for job in v.jobs) <= len(cluster.healthy_slots(server)))
        lit = cluster.lit_slots(server)
        if len(lit) < len(cluster.healthy_slots(server)):
            model.add(total(lit_devices(job, server, problem) for job in v.jobs) <= len(lit))
    placed = [shape.num_ranks * row for job in v.jobs for shape, row in zip(job.options.shapes, job.rows, strict=True)]
    staying = [job.stay_devices.total() * job.stay for job in v.jobs if job.stay is not None]
    model.add(total([*placed, *staying]) <= cluster.num_healthy)
    _say_where(model, v)


def _say_where(model: cp_model.CpModel, v: Variables) -> None:
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


def held_lit_devices(job: JobVariables, server: int, problem: Problem) -> int:
    """Devices with a working port on a server that a staying resident holds."""
    devices = map(problem.cluster.fabric.parse_device, getattr(job.options.job, "devices", ()))
    return sum(d[0] == server and d not in problem.cluster.dark_devices for d in devices)


def lit_devices(job: JobVariables, server: int, problem: Problem) -> cp_model.LinearExprT:
    """Devices with a working port that a job needs on a server."""
    new = job.new_devices(server, lit_only=True)
    return new if job.stay is None else total([new, held_lit_devices(job, server, problem) * job.stay])

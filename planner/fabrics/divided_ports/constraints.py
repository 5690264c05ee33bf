"""Appliances that the accelerators of a server share: modules and ports by server."""

from ortools.sat.python import cp_model

from costmodel.fabrics import DividedPorts
from planner.fabrics.problem import Problem
from planner.formulation.variables import JobVariables, Variables, total


def shares(model: cp_model.CpModel, v: Variables, problem: Problem) -> None:
    r"""In each server, x being ranks with u modules over p ports: $\sum u x \le M$ and $\sum p x \le P$.

    Totals over all servers are redundant and tighten the relaxation.
    """
    fabric = problem.cluster.fabric
    assert isinstance(fabric, DividedPorts)
    if fabric.shared is None:
        return
    for axis, most in enumerate(fabric.shared):
        for server in range(fabric.num_servers):
            model.add(total(term for job in v.jobs for term in _taken(job, server, axis)) <= most)
        rows = [
            shape.num_ranks * (shape.held_units, shape.held_io)[axis] * row
            for job in v.jobs
            for shape, row in zip(job.options.shapes, job.rows, strict=True)
        ]
        model.add(total([*rows, *(_staying(job, axis) for job in v.jobs)]) <= most * fabric.num_servers)


def _taken(job: JobVariables, server: int, axis: int) -> list[cp_model.LinearExprT]:
    """Modules (axis 0) or ports (axis 1) of a server that a job holds."""
    placed: list[cp_model.LinearExprT] = [
        kind.size * (kind.memory_units, kind.memory_io)[axis] * blocks[server] for kind, blocks in job.blocks.items()
    ]
    if job.stay is not None:
        placed.append(_each(job, axis) * job.stay_devices[server] * job.stay)
    return placed


def _staying(job: JobVariables, axis: int) -> cp_model.LinearExprT:
    """All that a resident holds where it stays."""
    return 0 if job.stay is None else _each(job, axis) * job.stay_devices.total() * job.stay


def _each(job: JobVariables, axis: int) -> int:
    """Modules or ports that each rank of a resident holds now."""
    assert job.options.current is not None
    shape = job.options.shapes[job.options.current]
    return (shape.held_units, shape.held_io)[axis]

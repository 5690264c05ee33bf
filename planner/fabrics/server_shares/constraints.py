"""Memory that the accelerators of a server share, in step 1: of each part a row for each server."""

from ortools.sat.python import cp_model

from costmodel.fabrics import ServerShares
from planner.fabrics.problem import Problem
from planner.fabrics.server_shares.demand import amounts_of
from planner.formulation.variables import JobVariables, Variables, total


def held_by_server(model: cp_model.CpModel, v: Variables, problem: Problem) -> None:
    r"""In each server, x being ranks with u units, p I/Os and t second-tier units each: $\sum u x \le M$,
    $\sum p x \le P$, $\sum t x \le T$, as far as they are shared. Totals over all servers are redundant and tighten
    the relaxation."""
    fabric = problem.cluster.fabric
    assert isinstance(fabric, ServerShares)
    for axis, most in enumerate(fabric.shared or ()):
        if most == 0:
            continue
        for server in range(fabric.num_servers):
            model.add(total(term for job in v.jobs for term in _taken(job, server, axis)) <= most)
        rows = [
            shape.num_ranks * amounts_of(shape)[axis] * row
            for job in v.jobs
            for shape, row in zip(job.options.shapes, job.rows, strict=True)
        ]
        model.add(total([*rows, *(_staying(job, axis) for job in v.jobs)]) <= most * fabric.num_servers)


def _taken(job: JobVariables, server: int, axis: int) -> list[cp_model.LinearExprT]:
    """Of one of `Amounts`, what a job holds of a server."""
    placed: list[cp_model.LinearExprT] = [
        kind.size * (kind.memory_units, kind.memory_io, kind.tier_units)[axis] * blocks[server]
        for kind, blocks in job.blocks.items()
    ]
    if job.stay is not None:
        placed.append(_each(job, axis) * job.stay_devices[server] * job.stay)
    return placed


def _staying(job: JobVariables, axis: int) -> cp_model.LinearExprT:
    """All that a resident holds where it stays."""
    return 0 if job.stay is None else _each(job, axis) * job.stay_devices.total() * job.stay


def _each(job: JobVariables, axis: int) -> int:
    """What each rank of a resident holds now."""
    assert job.options.current is not None
    return amounts_of(job.options.shapes[job.options.current])[axis]

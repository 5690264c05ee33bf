"""Appliances that the accelerators of a server share: modules, ports and units of a second tier by server."""

from ortools.sat.python import cp_model

from costmodel.fabrics import DividedPorts
from planner.fabrics.divided_ports.block_prices import BlockPrices
from planner.fabrics.divided_ports.demand import amounts_of
from planner.fabrics.problem import Problem
from planner.formulation.variables import JobVariables, Variables, total


def shares(model: cp_model.CpModel, v: Variables, problem: Problem) -> None:
    r"""In each server, x being ranks with u modules, p ports and t units behind them: $\sum u x \le M$,
    $\sum p x \le P$, $\sum t x \le T$.

    Totals over all servers are redundant and tighten the relaxation, as do prices of blocks (`BlockPrices`).
    """
    fabric = problem.cluster.fabric
    assert isinstance(fabric, DividedPorts)
    if fabric.shared is None:
        return
    for axis, most in enumerate(fabric.shared):
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
    _worth_no_more_than_fillings(model, v, problem)


def _worth_no_more_than_fillings(model: cp_model.CpModel, v: Variables, problem: Problem) -> None:
    r"""At prices of blocks: $\sum_{jk} n_k \pi_{b(k)} z_{jk} \le \sum_s \max_{a \in s} \pi \cdot a$."""
    prices = BlockPrices.of(problem)
    if prices is not None:
        paid = zip(v.jobs, prices.kind, prices.number, strict=True)
        terms = [
            int(prices.prices[kind] * number) * row
            for job, kinds, numbers in paid
            for row, kind, number in zip(job.rows, kinds.tolist(), numbers.tolist(), strict=True)
        ]
        model.add(total(terms) <= prices.limit)


def _taken(job: JobVariables, server: int, axis: int) -> list[cp_model.LinearExprT]:
    """Modules (axis 0), ports (1) or units of a second tier (2) of a server that a job holds."""
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

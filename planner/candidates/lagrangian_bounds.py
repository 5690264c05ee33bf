"""Lagrangian bound on value: prices of what jobs share, and the order in which candidates are worth trying."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from costmodel.fabrics import Sipam
from planner.fabrics.divided_ports.free_shares import FreeShares
from planner.fabrics.problem import JobOptions, Problem
from planner.fabrics.sipam.demand import pool_demand
from planner.fabrics.sipam.free_pool import FreePool

Floats = NDArray[np.float64]
STEPS = 400
PATIENCE = 12
"""steps without a better bound before they become shorter"""


@dataclass(frozen=True)
class LagrangianMultipliers:
    """Outcome for R resources of all servers together, which the rows of each job use."""

    bound: float
    """no plan has more value"""
    rows: tuple[Floats, ...]
    """(C_j,) for each job: no plan that uses the row has more value"""
    reduced: tuple[Floats, ...]
    """(C_j,) for each job: value less the price of what the row uses"""
    shares: tuple[Floats, ...]
    """(C_j, R) for each job: what the row uses as a fraction of what there is"""


def has_prices(problem: Problem) -> bool:
    """Whether jobs share more than accelerators: the memory of a pool, or appliances."""
    return isinstance(problem.cluster.fabric, Sipam) or bool(FreeShares.of(problem.cluster).modules)


def pool_prices(problem: Problem) -> LagrangianMultipliers:
    r"""Least of $\lambda \cdot 1 + \sum_j \max_k (v_{jk} - \lambda \cdot u_{jk})$ over prices of the whole pool.

    The relaxation keeps one configuration per job and the totals of accelerators, memory units, ports, units less ports
    and uplinks, each row charged its fewest servers; or of accelerators, modules and ports of appliances. Any prices
    give a valid bound; subgradient steps look for the least, and each row takes the least bound met on the way.
    """
    usage = _usage(problem)
    table = _Table(problem.options, usage)
    prices = np.zeros(table.usage.shape[1])
    best, best_prices, row_bounds = np.inf, prices, np.full(len(table.value), np.inf)
    scale, since = 1.0, 0
    for _ in range(STEPS):
        bound, slack, used = table.relax(prices)
        row_bounds = np.minimum(row_bounds, bound - slack)
        since += 1
        if bound < best * (1 - 1e-9):
            best, best_prices, since = bound, prices, 0
        if since >= PATIENCE:
            scale, since, prices = scale / 2, 0, best_prices
            continue
        uphill = used - 1.0
        downhill = np.where((prices <= 0) & (uphill < 0), 0.0, uphill)
        length = float(downhill @ downhill)
        if length < 1e-18 or scale < 1e-6:
            break
        prices = np.maximum(prices + scale * 0.05 * max(abs(bound), 1e-12) * downhill / length, 0.0)
    reduced = table.value - table.usage @ best_prices
    return LagrangianMultipliers(best, table.split(row_bounds), table.split(reduced), tuple(usage))


class _Table:
    """Rows of all jobs below each other; a job that may wait has one more row, which is worth and uses nothing."""

    def __init__(self, options: Sequence[JobOptions], usage: Sequence[Floats]) -> None:
        num_resources = max((len(each[0]) for each in usage if len(each)), default=1)
        values, uses, self._spans, starts, at = [], [], [], [], 0
        for job, each in zip(options, usage, strict=True):
            waits = 0 if job.must_run and len(job) else 1
            values.append(np.concatenate([job.value, np.zeros(waits)]))
            uses.append(np.concatenate([each.reshape(-1, num_resources), np.zeros((waits, num_resources))]))
            starts.append(at)
            self._spans.append(slice(at, at + len(job)))
            at += len(job) + waits
        self.value, self.usage = np.concatenate(values), np.concatenate(uses)
        self._starts = np.array(starts)
        self._sizes = np.diff([*starts, at])

    def relax(self, prices: Floats) -> tuple[float, Floats, Floats]:
        """Bound at some prices, how far each row is below the best of its job, and what the best rows use."""
        reduced = self.value - self.usage @ prices
        best = np.maximum.reduceat(reduced, self._starts)
        slack = np.repeat(best, self._sizes) - reduced
        chosen = np.minimum.reduceat(np.where(slack <= 0, np.arange(len(slack)), len(slack)), self._starts)
        return float(prices.sum() + best.sum()), slack, self.usage[chosen].sum(axis=0)

    def split(self, column: Floats) -> tuple[Floats, ...]:
        """Part of each job, waiting left out."""
        return tuple(column[span] for span in self._spans)


def _usage(problem: Problem) -> list[Floats]:
    """What each row uses as fractions of all, shape (C_j, R)."""
    return _of_pools(problem) if isinstance(problem.cluster.fabric, Sipam) else _of_appliances(problem)


def _of_appliances(problem: Problem) -> list[Floats]:
    """Accelerators, modules and ports, R = 3."""
    shares = FreeShares.of(problem.cluster)
    there_is = np.maximum([problem.cluster.num_healthy, sum(shares.modules), sum(shares.ports)], 1e-9)
    uses = (
        [(shape.num_ranks, shape.num_ranks * shape.held_units, shape.num_ranks * shape.held_io) for shape in job.shapes]
        for job in problem.options
    )
    return [np.array(rows, np.float64).reshape(-1, len(there_is)) / there_is for rows in uses]


def _of_pools(problem: Problem) -> list[Floats]:
    """Accelerators, units, ports, units less ports, and uplinks, R = 5."""
    fabric = problem.cluster.fabric
    assert isinstance(fabric, Sipam)
    racks = FreePool(problem.cluster).racks
    units = sum(rack.num_units for rack in racks)
    ports = sum(rack.num_ports(rail) for rack in racks for rail in rack.ports)
    uplinks = sum(len(free) for rack in racks for free in rack.uplinks.values())
    devices = problem.cluster.num_healthy
    there_is = np.maximum([devices, units, ports, max(units - units / fabric.port_units, 1.0), uplinks], 1e-9)
    largest = (fabric.devices_per_server, max(rack.num_units for rack in racks))
    return [_of_job(options, largest) / there_is for options in problem.options]


def _of_job(options: JobOptions, largest: tuple[int, int]) -> Floats:
    """What the rows of a job use, shape (C, 5); `largest`: accelerators and units of the largest server."""
    table = np.zeros((len(options), 5))
    for row, shape in enumerate(options.shapes):
        demand, ranks = pool_demand(shape), shape.num_ranks
        servers = max(ceil(ranks / largest[0]), ceil(ranks * demand.units / max(largest[1], 1)))
        uplinks = servers * demand.across * demand.uplinks if servers > 1 else 0
        units, ports = ranks * demand.units, ranks * demand.memory_io
        table[row] = ranks, units, ports, units - ports, uplinks
    return table

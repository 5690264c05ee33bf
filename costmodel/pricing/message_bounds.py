"""Collectives over circuits or links of their own: the time of each in a candidate, and the least of any plan."""

from collections.abc import Iterator
from dataclasses import dataclass

from costmodel.collectives.best import bound_s
from costmodel.collectives.plan import CollectivePlan
from costmodel.fabrics import FabricBase, GroupPlan, LinkPlan
from costmodel.hardware.device import Device
from costmodel.parallelism.mappings import DIMENSIONS, Dimension
from costmodel.pricing.candidates import Candidates
from costmodel.pricing.opgraph import OpGraph


@dataclass(frozen=True)
class CollectiveTime:
    """One kind of collective of a step, nothing hidden behind operators."""

    name: str
    dimension: Dimension
    ranks: int
    message_bytes: float
    """of one call"""
    calls: float
    """in a step; half a call is a reduce-scatter or an all-gather"""
    time_s: float
    """of one call under the candidate's plan"""
    bound_s: float
    """least time of one call by any plan that has all wavelengths of its ranks (see `closed_forms`), or by any wiring
    of as many links of each"""
    wiring_bound_s: float = 0.0
    """least time of one call over the links as they are wired, latency left out, by any routing; 0 where none is
    known"""

    @property
    def gap(self) -> float:
        """How much longer than the bound it takes: 0.03 is 3 %."""
        return self.time_s / self.bound_s - 1 if self.bound_s > 0 else 0.0


def collective_times(
    candidates: Candidates, row: int, device: Device, fabric: FabricBase
) -> tuple[CollectiveTime, ...]:
    """Collectives of a row that have circuits of their own, and all-to-alls over the links of a torus, those of most
    time in a step first.

    Of a row with a setting by phase, that of the last phase. Messages over packets, along a pipeline, between pools or
    between racks have no bound of this kind and are left out.
    """
    one = candidates.take(slice(row, row + 1)).in_last_phase()
    of_row = fabric.splits(device, one.workload)[int(one.split[0])].device
    one, graph = one.part(slice(None), of_row)
    plans = one.row_plans(0)
    found = [
        each
        for dimension, plan in zip(DIMENSIONS, plans, strict=True)
        if plan.ranks > 1 and (isinstance(plan, CollectivePlan) or _least(plan) > 0)
        for each in _of_dimension(graph, dimension, plan)
    ]
    return tuple(sorted(found, key=lambda each: -each.calls * each.time_s))


def _least(plan: GroupPlan) -> float:
    """Least seconds per byte of an all-to-all over links, however they are wired; 0 for other plans."""
    return plan.least_seconds_per_byte if isinstance(plan, LinkPlan) else 0.0


def _of_dimension(graph: OpGraph, dimension: Dimension, plan: GroupPlan) -> Iterator[CollectiveTime]:
    """Messages of the only mapping of a graph along a dimension, equal ones together."""
    calls: dict[tuple[str, float, float], float] = {}
    for block in graph.blocks:
        shape = int(block.shape[0])
        for message in block.messages:
            if message.dimension == dimension:
                size, parts, count = (
                    float(block.column(value)[shape]) for value in (message.message_bytes, message.parts, message.count)
                )
                key = (message.name, size, parts)
                calls[key] = calls.get(key, 0.0) + count * float(block.times[0])
    for (name, size, parts), often in calls.items():
        if often > 0:
            time_s = parts * plan.latency_s + plan.seconds_per_byte * size
            least_s = _least(plan) * size
            if isinstance(plan, CollectivePlan):
                least_s = bound_s(plan.collective, plan.ranks, size, plan.limits)
            wired_s = plan.wired_seconds_per_byte * size if isinstance(plan, LinkPlan) else 0.0
            yield CollectiveTime(name, dimension, plan.ranks, size, often, time_s, least_s, wired_s)

"""Blocks of given degrees of parallelism, and the plans along each dimension that go together."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from costmodel.fabrics import FabricBase, GroupPlan
from costmodel.parallelism.degrees import RANK_ORDERS, Degrees
from costmodel.parallelism.described import plans_of
from costmodel.parallelism.mappings import DIMENSIONS, Dimension
from costmodel.workloads import Workload

Listed = dict[tuple[Dimension, int, int], tuple[int, ...]]
"""numbers of the plans of a group by dimension, ranks, and how many of them share a server"""
BlocksOf = Callable[[FabricBase, Sequence[int], int], Sequence[int]]
"""blocks to list, given the sizes of the groups that should not be torn apart, and the number of devices"""
REDUCING = ("tensor", "data", "context")
"""dimensions along which messages are all-reduced"""


@dataclass(frozen=True)
class PlanChoices:
    """Degrees of parallelism whose blocks and plans are listed together."""

    workload: Workload
    fabric: FabricBase
    degrees: Sequence[int]
    """by DIMENSIONS"""
    num_devices: int
    collective: str | None

    def rows(self, blocks: BlocksOf, plans: dict[GroupPlan, int], listed: Listed) -> Iterator[tuple[int, ...]]:
        """Block, place in RANK_ORDERS and number of the plan along each dimension, of every combination."""
        for block, degrees, together in self._layouts(blocks):
            options = []
            for dimension, near in zip(DIMENSIONS, together, strict=True):
                key = dimension, degrees.ranks(dimension), near
                if key not in listed:
                    found = self._plans(degrees, dimension, block)
                    listed[key] = tuple(plans.setdefault(plan, len(plans)) for plan in found)
                options.append(listed[key])
            numbered = tuple(plans)
            menus = [[numbered[number] for number in numbers] for numbers in options]
            inside = [near == degrees.ranks(d) for d, near in zip(DIMENSIONS, together, strict=True)]
            order = RANK_ORDERS.index(degrees.order)
            for choice in self.fabric.combinations(menus, inside):
                yield block, order, *(numbers[place] for numbers, place in zip(options, choice, strict=True))

    def missing(self, blocks: BlocksOf) -> Iterator[list[tuple[Dimension, int]]]:
        """Of each layout, dimensions without a plan, and the ranks of their groups."""
        for block, degrees, _ in self._layouts(blocks):
            yield [(d, degrees.ranks(d)) for d in DIMENSIONS if not self._plans(degrees, d, block)]

    def _layouts(self, blocks: BlocksOf) -> Iterator[tuple[int, Degrees, tuple[int, ...]]]:
        """Blocks under each order, and how many ranks of each group then share a server: once where these are alike."""
        seen = set[tuple[int, tuple[int, ...]]]()
        server = self.fabric.devices_per_server if self.workload.tensor_leaves_servers else None
        for degrees in self._ordered():
            for block in blocks(self.fabric, degrees.spans(server), self.num_devices):
                together = degrees.together(block)
                if (block, together) not in seen:
                    seen.add((block, together))
                    yield block, degrees, together

    def _ordered(self) -> Iterator[Degrees]:
        """Degrees under each order of ranks that matters here, and that the workload allows."""
        tensor, pipeline, shards, context, expert = self.degrees
        usual = Degrees(tensor, pipeline, shards // context, context, expert)
        orders = [order for order in usual.distinct_orders if order in self.fabric.rank_orders]
        allowed = [order for order in orders if order in self.workload.rank_orders] if len(orders) > 1 else orders
        yield from (usual if order == usual.order else replace(usual, order=order) for order in allowed or orders)

    def _plans(self, degrees: Degrees, dimension: Dimension, block: int) -> Sequence[GroupPlan]:
        """A dimension that sends nothing needs no plan."""
        if not self.workload.sends(dimension):
            return self.fabric.plans(dimension, 1, one_server=True)
        found = plans_of(self.fabric, degrees, dimension, block)
        if self.workload.sends_halves(dimension):
            found = [plan for plan in found if plan.kind != "tree"]
        if self.collective is None or dimension not in REDUCING:
            return found
        return [plan for plan in found if plan.kind in ("none", self.collective)]

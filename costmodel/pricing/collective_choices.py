"""Blocks of given degrees of parallelism, and the plans along each dimension that go together."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from costmodel.fabrics import FabricBase, GroupPlan
from costmodel.parallelism.degrees import Degrees
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
        """Block and number of the plan along each dimension, of every combination."""
        degrees = self._degrees
        for block in self._blocks(blocks):
            options = []
            for dimension in DIMENSIONS:
                key = dimension, degrees.ranks(dimension), degrees.ranks_together(dimension, block)
                if key not in listed:
                    found = self._plans(degrees, dimension, block)
                    listed[key] = tuple(plans.setdefault(plan, len(plans)) for plan in found)
                options.append(listed[key])
            numbered = tuple(plans)
            menus = [[numbered[number] for number in numbers] for numbers in options]
            confined = [degrees.ranks_together(d, block) == degrees.ranks(d) for d in DIMENSIONS]
            for choice in self.fabric.combinations(menus, confined):
                yield block, *(numbers[place] for numbers, place in zip(options, choice, strict=True))

    def missing(self, blocks: BlocksOf) -> Iterator[list[tuple[Dimension, int]]]:
        """Of each block, dimensions without a plan, and the ranks of their groups."""
        degrees = self._degrees
        for block in self._blocks(blocks):
            yield [(d, degrees.ranks(d)) for d in DIMENSIONS if not self._plans(degrees, d, block)]

    @property
    def _degrees(self) -> Degrees:
        tensor, pipeline, shards, context, expert = self.degrees
        return Degrees(tensor, pipeline, shards // context, context, expert)

    def _blocks(self, blocks: BlocksOf) -> Sequence[int]:
        spans = self._degrees.spans(self.fabric.devices_per_server if self.workload.tensor_leaves_servers else None)
        return blocks(self.fabric, spans, self.num_devices)

    def _plans(self, degrees: Degrees, dimension: Dimension, block: int) -> Sequence[GroupPlan]:
        """A dimension that sends nothing needs no plan."""
        if not self.workload.sends(dimension):
            return self.fabric.plans(dimension, 1, one_server=True)
        found = plans_of(self.fabric, degrees, dimension, block)
        if self.collective is None or dimension not in REDUCING:
            return found
        return [plan for plan in found if plan.kind in ("none", self.collective)]

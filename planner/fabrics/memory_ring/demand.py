"""Demand of a job whose devices share memory nodes."""

from dataclasses import dataclass
from functools import cached_property

from planner.fabrics.demand import Demand


@dataclass(frozen=True)
class NodeDemand(Demand):
    """Ranks also take DIMMs of the memory nodes beside their slots."""

    @cached_property
    def room_key(self) -> tuple[object, ...]:
        return self.num_ranks, self.block, self.part, self.held_units

    @property
    def each_side(self) -> int:
        """DIMMs that a rank takes of the node on either side."""
        return self.held_units // 2

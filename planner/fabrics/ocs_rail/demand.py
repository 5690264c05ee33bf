"""Demand of a job on rails of optical switches."""

from dataclasses import dataclass
from functools import cached_property

from planner.fabrics.demand import Demand


@dataclass(frozen=True)
class RailDemand(Demand):
    """A job with circuits takes one block on each of its servers, all on rails with enough working switches."""

    @cached_property
    def room_key(self) -> tuple[object, ...]:
        return self.num_ranks, self.block, self.part, self.num_ports

    @property
    def chooses_servers(self) -> bool:
        return self.num_ports > 0

    @property
    def is_apart(self) -> bool:
        return self.is_even or self.chooses_servers

    def needs_no_more_than(self, other: Demand) -> bool:
        """The same blocks, and at most as many ports of each rank."""
        return (self.num_ranks, self.block) == (other.num_ranks, other.block) and self.num_ports <= other.num_ports

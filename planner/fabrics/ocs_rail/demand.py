"""What a job asks of rails."""

from dataclasses import dataclass
from functools import cached_property

from planner.fabrics.demand import Demand


@dataclass(frozen=True)
class RailDemand(Demand):
    """A job with circuits takes one block on each of its servers, all on rails with enough working switches."""

    @cached_property
    def room_key(self) -> tuple[object, ...]:
        return self.num_ranks, self.block, self.num_ports

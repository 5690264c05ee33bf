"""Demand of a job on servers whose accelerators share appliances."""

from dataclasses import dataclass
from functools import cached_property

from planner.fabrics.demand import Demand


@dataclass(frozen=True)
class SharedDemand(Demand):
    """Ranks also take modules and ports of the appliances of their server."""

    @cached_property
    def room_key(self) -> tuple[object, ...]:
        return self.num_ranks, self.block, self.part, self.held_units, self.held_io

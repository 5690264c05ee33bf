"""Demand of a job on servers whose accelerators share parts of memory."""

from dataclasses import dataclass
from functools import cached_property

from planner.fabrics.demand import Demand

Amounts = tuple[int, int, int]
"""units of memory (modules of an appliance), I/Os to it and units of a second tier"""


def amounts_of(demand: Demand) -> Amounts:
    """What each rank takes; of these a server shares the first ones, as many as it names."""
    return demand.held_units, demand.held_io, demand.tier_units


@dataclass(frozen=True)
class SharedDemand(Demand):
    """Ranks also take parts of the memory of their server."""

    @cached_property
    def room_key(self) -> tuple[object, ...]:
        return self.num_ranks, self.block, self.part, *amounts_of(self)

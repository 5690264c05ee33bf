"""Demand of a job on servers whose accelerators share appliances."""

from dataclasses import dataclass
from functools import cached_property

from planner.fabrics.demand import Demand

Amounts = tuple[int, int, int]
"""modules, ports and units of a second tier: of each rank, or of a server"""


def amounts_of(demand: Demand) -> Amounts:
    """What each rank takes of the appliances of its server."""
    return demand.held_units, demand.held_io, demand.tier_units


@dataclass(frozen=True)
class SharedDemand(Demand):
    """Ranks also take modules, ports and units of a second tier of the appliances of their server."""

    @cached_property
    def room_key(self) -> tuple[object, ...]:
        return self.num_ranks, self.block, self.part, *amounts_of(self)

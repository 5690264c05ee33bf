"""Which slices a job lacks on servers that have devices enough."""

from collections.abc import Iterator

from costmodel.fabrics import SliceShape
from planner.candidates.expand import list_options
from planner.fabrics.demand import Demand
from planner.fabrics.free_state import FreeState
from planner.fabrics.joined_racks import more_links
from planner.fabrics.shortages import Lifted, Shortages
from planner.fabrics.slices.free_slices import FreeSlices
from planner.fabrics.slices.free_state import SlicedFreeState
from planner.model.edit import with_job
from planner.model.instance import Instance
from planner.model.phrases import listed

MAX_NAMED = 3
"""most extents that a sentence names"""


class SliceShortages(Shortages):
    """Slices of an extent, so many in each server."""

    def counted(self, instance: Instance, name: str, size: int) -> str | None:
        """How many slices of which extent the job needs, or links between racks; None where it would find them, or
        needs none."""
        return self._slices(instance, name, size) or more_links.counted(instance, name, size)

    def lifted(self, instance: Instance) -> Iterator[Lifted]:
        yield from more_links.lifted(instance)

    def _slices(self, instance: Instance, name: str, size: int) -> str | None:
        listed_ones = list_options(instance, with_job(instance, name, accelerators=size).job(name)).shapes
        demands = [demand.in_rack for demand in listed_ones]
        needs = sorted({(demand.num_parts * demand.slices_together, demand.cut) for demand in demands if demand.cut})
        state = FreeState.beside_residents(instance)
        assert isinstance(state, SlicedFreeState)
        free = state.slices
        if not needs or not all(demand.cut for demand in demands) or any(_fits(free, demand) for demand in demands):
            return None
        ways = [
            f"{number} of {free.fabric.in_words(cut)} ({_most(free, cut)} found)" for number, cut in needs[:MAX_NAMED]
        ]
        others = " and so on" if len(needs) > MAX_NAMED else ""
        return f"needs slices of working accelerators and switches: {listed(ways, 'or')}{others}"


def _fits(free: FreeSlices, demand: Demand) -> bool:
    return _most(free, demand.cut, demand.slices_together, demand.most_parts) >= demand.num_parts


def _most(free: FreeSlices, cut: SliceShape, together: int = 1, most: int | None = None) -> int:
    """Slices, or so many together in one server, at most `most` of these, that first fit finds in the best rack."""
    fabric = free.fabric
    counts = [len(free.disjoint(server, cut)) // together for server in range(fabric.num_servers)]
    counts = counts if most is None else [min(count, most) for count in counts]
    return max(sum(counts[first : first + fabric.servers]) for first in range(0, fabric.num_servers, fabric.servers))

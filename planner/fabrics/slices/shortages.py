"""Which slices a job lacks on servers that have devices enough."""

from collections.abc import Iterator

from planner.candidates.expand import list_options
from planner.fabrics.free_state import FreeState
from planner.fabrics.joined_racks import more_links
from planner.fabrics.shortages import Lifted, Shortages
from planner.fabrics.slices.free_state import SlicedFreeState
from planner.fabrics.slices.slice_counts import slices_short
from planner.model.edit import with_job
from planner.model.instance import Instance


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
        state = FreeState.beside_residents(instance)
        assert isinstance(state, SlicedFreeState)
        return slices_short(state.slices, demands)

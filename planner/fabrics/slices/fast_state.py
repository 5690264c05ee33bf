"""Free slices of a fixed shape while jobs come and go."""

from collections.abc import Sequence
from math import inf

from planner.fabrics.fast_state import State, require_time
from planner.fabrics.free_slots import Device
from planner.fabrics.free_state import Blocks
from planner.fabrics.job_class import Option
from planner.fabrics.placement import Placement, Switches
from planner.fabrics.slices.free_state import SlicedFreeState
from planner.model.cluster import Cluster


class SlicedState(State):
    """Jobs take whole slices, with the optical switches that their wraps need."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(cluster)
        assert isinstance(self.board, SlicedFreeState)
        self.slices = self.board.cuts
        self._lost = self.failed | self.dark

    def take(self, placement: Placement) -> None:
        super().take(placement)
        self.slices.take(placement.held)

    def release(self, placement: Placement) -> None:
        super().release(placement)
        lost = self._lost
        self.slices.release(device for device in placement.held if device not in lost)

    def room(self, row: Option) -> Sequence[int]:
        if not row.shape.cut:
            return super().room(row)
        return self.slices.parts(row.shape.cut, row.shape.slices_together)

    def realize(self, row: Option, blocks: Blocks, deadline_s: float = inf) -> Placement | None:
        cut = row.shape.cut
        if not cut:
            return super().realize(row, blocks, deadline_s)
        require_time(deadline_s)
        devices: list[Device] = []
        switches: Switches = frozenset()
        for server, count in blocks:
            for each in self.slices.disjoint(server, cut)[: count * row.shape.slices_together]:
                devices += [(server, slot) for slot in each.slots]
                switches |= self.slices.switches(server, cut, each)
        return Placement(row, tuple(devices), tuple(devices), switches=switches)

    def realize_chosen(self, row: Option, devices: Sequence[Device]) -> Placement | None:
        """On the slices that these devices are; None where they are none."""
        if not row.shape.cut:
            return super().realize_chosen(row, devices)
        fabric, plans = self.slices.fabric, row.options.candidates.row_plans(row.number)
        slices = fabric.held(plans, devices)
        if slices is None:
            return None
        needed = (fabric.needed_switches(server, row.shape.cut, slots) for server, slots in slices)
        held = tuple((server, slot) for server, slots in slices for slot in slots)
        return Placement(row, held, held, switches=frozenset().union(*needed))

    @property
    def servers_are_counts(self) -> bool:
        return False

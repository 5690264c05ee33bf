"""Circuits of placements: a free state keeps them as masks, these name every one, and back."""

from collections.abc import Sequence

from planner.fabrics.free_slots import Device
from planner.fabrics.free_state import FreeState
from planner.fabrics.job_class import Option
from planner.fabrics.placed_parts import joined, parted, parted_circuits, put_together
from planner.fabrics.placement import Placement
from planner.fabrics.wiring import NO_WIRING, Wiring
from planner.model.plan import HeldCircuits, RackCircuit

MOST_WIRES = 500_000
"""of all remembered wirings; each takes some 200 bytes"""


class CircuitNamer:
    """Circuits by rank, remembered where the same ones come back; as given here, on servers joined by packets."""

    def __init__(self) -> None:
        self._num_wires = 0
        self._alike: dict[Wiring, Wiring] = {}

    def name(self, state: FreeState, placement: Placement) -> tuple[Placement, Wiring] | None:
        """A placement that is taken, its devices in rank order, and its circuits inside racks.

        None, and it is given back, where the circuits are not those that were found.
        """
        if placement.links is None:
            return self.name_in_rack(state, placement)
        parts, wirings = [*placement.parts], list[Wiring]()
        for number, part in enumerate(parts):
            named = self.name_in_rack(state, part)
            if named is None:
                state.take(part)
                state.release(put_together(placement.row, parts, placement.links))
                return None
            parts[number], wiring = named
            wirings.append(wiring)
        return put_together(placement.row, parts, placement.links), self.one(joined(wirings, parts))

    def placement(
        self,
        state: FreeState,
        row: Option,
        devices: tuple[Device, ...],
        wiring: Wiring,
        circuits: Sequence[HeldCircuits],
        upper: Sequence[RackCircuit] = (),
    ) -> Placement:
        """By number all that a job with these circuits holds; `circuits` are those of the wiring by name, `upper` those
        between racks."""
        if row.shape.racks == 1:
            return self.placement_in_rack(state, row, devices, wiring, circuits)
        size, fabric = row.in_rack.shape.num_ranks, state.cluster.fabric
        runs = [devices[first : first + size] for first in range(0, len(devices), size)]
        own = zip(runs, parted(wiring, runs), parted_circuits(wiring, circuits, runs), strict=True)
        parts = [self.placement_in_rack(state, row.in_rack, *each) for each in own]
        racks = [fabric.rack_of(part.devices[0][0]) for part in parts]
        assert state.links is not None
        return put_together(row, parts, state.links.counted(row.shape, racks, upper))

    def name_in_rack(self, state: FreeState, placement: Placement) -> tuple[Placement, Wiring] | None:
        """As `name`, of what lies in one rack."""
        return placement, NO_WIRING

    def placement_in_rack(
        self,
        state: FreeState,
        row: Option,
        devices: tuple[Device, ...],
        wiring: Wiring,
        circuits: Sequence[HeldCircuits],
    ) -> Placement:
        """As `placement`, of what lies in one rack."""
        return Placement(row, devices, devices)

    def one(self, wiring: Wiring) -> Wiring:
        """The one object of all wirings with this content."""
        found = self._alike.get(wiring)
        if found is None:
            self._num_wires += sum(len(wires) for _, wires in wiring.configurations)
            if self._num_wires > MOST_WIRES:
                self.forget()
            found = self._alike[wiring] = wiring
        return found

    def forget(self) -> None:
        """Let go of what is remembered: circuits are found again where they are asked for."""
        self._alike.clear()
        self._num_wires = 0

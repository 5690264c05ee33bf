"""Circuits of jobs on slices, through the optical switches that join these."""

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from costmodel.fabrics import SlicedFabric
from planner.fabrics.circuit_names import CircuitNamer
from planner.fabrics.free_slots import Device
from planner.fabrics.free_state import FreeState
from planner.fabrics.job_class import Option
from planner.fabrics.placement import Placement
from planner.fabrics.slices.free_slices import slice_circuits
from planner.fabrics.wiring import NO_WIRING, Wiring, WiringNames
from planner.model.plan import HeldCircuits

MOST_REMEMBERED = 100_000
"""layouts by what they depend on"""


class SlicedCircuitNamer(CircuitNamer):
    """Slices are found again as if they were free; ranks and circuits of all that lie alike once."""

    def __init__(self) -> None:
        super().__init__()
        self._laid: dict[object, tuple[tuple[int, ...], Wiring]] = {}
        """place among the devices of its slices for each rank, and circuits, by what they depend on"""

    def forget(self) -> None:
        super().forget()
        self._laid.clear()

    def name_in_rack(self, state: FreeState, placement: Placement) -> tuple[Placement, Wiring] | None:
        row, count = placement.row, dict[int, int]()
        for server, _ in placement.devices:
            count[server] = count.get(server, 0) + 1
        blocks = [(server, ranks // row.shape.part) for server, ranks in sorted(count.items())]
        state.release(placement)
        found = state.realize(row, blocks)
        if found is None or set(found.devices) != set(placement.devices):
            return None
        state.take(placement)
        if not row.shape.cut:
            return replace(placement, devices=found.devices), NO_WIRING
        ranks, wiring = self._on_slices(row, found.devices)
        return replace(placement, devices=tuple([found.devices[place] for place in ranks])), wiring

    def _on_slices(self, row: Option, devices: tuple[Device, ...]) -> tuple[tuple[int, ...], Wiring]:
        """The place of each rank among the devices of slices, one after the other, and the circuits of these."""
        fabric, (servers, slots) = row.options.fabric, zip(*devices, strict=True)
        number: dict[int, int] = {}
        lie = tuple([number.setdefault(server, len(number)) for server in servers])
        key = id(row), fabric.rack_of(servers[0]) if fabric.has_circuits else 0, lie, slots
        if key not in self._laid:
            if len(self._laid) > MOST_REMEMBERED:
                self.forget()
            ranks, wiring = _laid(row, devices)
            self._laid[key] = ranks, self.one(wiring)
        return self._laid[key]

    def placement_in_rack(
        self,
        state: FreeState,
        row: Option,
        devices: tuple[Device, ...],
        wiring: Wiring,
        circuits: Sequence[HeldCircuits],
    ) -> Placement:
        names = {step for _, wires in wiring.configurations for wire in wires for step in wire.route}
        switches = frozenset(state.cluster.fabric.parse_switch(str(name)) for name in names)
        return Placement(row, devices, devices, switches=switches)


def _laid(row: Option, devices: Sequence[Device]) -> tuple[tuple[int, ...], Wiring]:
    """The same, laid anew."""
    fabric, plans, size = row.options.fabric, row.options.candidates.row_plans(row.number), prod(row.shape.cut)
    assert isinstance(fabric, SlicedFabric)
    slices = [devices[first : first + size] for first in range(0, len(devices), size)]
    held = [(each[0][0], tuple([slot for _, slot in each])) for each in slices]
    place = {device: number for number, device in enumerate(devices)}
    laid = fabric.layout(plans, held)
    wiring = WiringNames().wiring(slice_circuits(fabric, plans, held), tuple(laid), fabric)
    return tuple([place[device] for device in laid]), wiring

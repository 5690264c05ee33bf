"""Circuits of jobs on rails, through the switches of each rail."""

from collections.abc import Sequence

from planner.fabrics.circuit_names import CircuitNamer
from planner.fabrics.free_slots import Device
from planner.fabrics.free_state import FreeState
from planner.fabrics.job_class import Option
from planner.fabrics.ocs_rail.free_state import RailFreeState
from planner.fabrics.placement import Placement
from planner.fabrics.wiring import NO_WIRING, Wiring, WiringNames
from planner.model.masks import numbers_of
from planner.model.plan import HeldCircuits


class OcsRailCircuitNamer(CircuitNamer):
    """As the planner colours them: a colour is a working switch of the rail."""

    def name_in_rack(self, state: FreeState, placement: Placement) -> tuple[Placement, Wiring]:
        assert isinstance(state, RailFreeState)
        row, devices = placement.row, placement.devices
        if not row.sets_circuits:
            return placement, NO_WIRING
        circuits = state.rails.circuits(row.shape, devices)
        return placement, self.one(WiringNames().wiring(circuits, devices, state.cluster.fabric))

    def placement_in_rack(
        self,
        state: FreeState,
        row: Option,
        devices: tuple[Device, ...],
        wiring: Wiring,
        circuits: Sequence[HeldCircuits],
    ) -> Placement:
        used = {(devices[wire.source][1], wire.mask) for _, wires in wiring.configurations for wire in wires}
        switches = frozenset((rail, number) for rail, mask in used for number in numbers_of(mask))
        return Placement(row, devices, devices, switches=switches)

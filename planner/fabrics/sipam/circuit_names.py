"""Circuits and memory of jobs in racks with pooled memory: parts by number get their names."""

from collections.abc import Sequence
from dataclasses import replace

from planner.fabrics.circuit_names import CircuitNamer
from planner.fabrics.free_slots import Device
from planner.fabrics.free_state import FreeState
from planner.fabrics.job_class import Option
from planner.fabrics.placement import Owned, Placement
from planner.fabrics.sipam.attachments import parts, switches, wiring_of
from planner.fabrics.sipam.fast_pool import PoolPart
from planner.fabrics.sipam.free_state import PoolFreeState
from planner.fabrics.wiring import Wiring
from planner.model.plan import HeldCircuits


class SipamCircuitNamer(CircuitNamer):
    """Of its uplinks a job keeps those that its circuits are on: who runs holds no others."""

    def name_in_rack(self, state: FreeState, placement: Placement) -> tuple[Placement, Wiring] | None:
        assert isinstance(state, PoolFreeState)
        assert placement.owned is not None
        row, devices = placement.row, placement.devices
        state.parts.release(placement.owned)
        named = state.parts.named(row.shape, devices)
        if named is None:
            state.release(replace(placement, owned=None))
            return None
        wiring = wiring_of(*named, devices, state.fabric)
        exact = self.placement(state, row, devices, wiring, named[0])
        assert exact.owned is not None
        state.parts.take(exact.owned)
        return replace(placement, owned=exact.owned, switches=exact.switches), wiring

    def placement_in_rack(
        self,
        state: FreeState,
        row: Option,
        devices: tuple[Device, ...],
        wiring: Wiring,
        circuits: Sequence[HeldCircuits],
    ) -> Placement:
        assert isinstance(state, PoolFreeState)
        masks: dict[PoolPart, int] = {}
        for server, bit in parts(wiring, devices, state.parts.bits):
            masks[server] = masks.get(server, 0) | 1 << bit
        return Placement(row, devices, devices, Owned(tuple(masks.items())), switches(wiring, devices, state.fabric))

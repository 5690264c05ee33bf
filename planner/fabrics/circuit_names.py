"""Circuits of placements that a fast state has found: it keeps them as masks, these name every one, and back."""

from collections.abc import Sequence
from typing import NamedTuple

from planner.fabrics.free_slots import Device
from planner.fabrics.free_state import FreeState
from planner.fabrics.job_class import Option
from planner.fabrics.placement import Placement
from planner.fabrics.wiring import NO_WIRING, Wiring
from planner.model.plan import HeldCircuits

MOST_WIRES = 500_000
"""of all remembered wirings; each takes some 200 bytes"""


class Named(NamedTuple):
    """A placement that is taken, with its devices in rank order and its circuits."""

    placement: Placement
    devices: tuple[Device, ...]
    wiring: Wiring


class CircuitNamer:
    """Circuits by rank, remembered where the same ones come back; as given here, on servers joined by packets."""

    def __init__(self) -> None:
        self._num_wires = 0
        self._alike: dict[Wiring, Wiring] = {}

    def name(self, state: FreeState, placement: Placement) -> Named | None:
        """The circuits of a placement that is taken; None, and it is given back, where they are not what was."""
        return Named(placement, placement.devices, NO_WIRING)

    def placement(
        self,
        state: FreeState,
        row: Option,
        devices: tuple[Device, ...],
        wiring: Wiring,
        circuits: Sequence[HeldCircuits],
    ) -> Placement:
        """What a job with these circuits holds on a state; `circuits` are those of the wiring by name."""
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

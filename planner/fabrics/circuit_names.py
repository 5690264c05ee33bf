"""Circuits of placements: a free state keeps them as masks, these name every one, and back."""

from collections.abc import Sequence

from planner.fabrics.free_slots import Device
from planner.fabrics.free_state import FreeState
from planner.fabrics.job_class import Option
from planner.fabrics.placement import Placement
from planner.fabrics.wiring import NO_WIRING, Wiring
from planner.model.plan import HeldCircuits

MOST_WIRES = 500_000
"""of all remembered wirings; each takes some 200 bytes"""


class CircuitNamer:
    """Circuits by rank, remembered where the same ones come back; as given here, on servers joined by packets."""

    def __init__(self) -> None:
        self._num_wires = 0
        self._alike: dict[Wiring, Wiring] = {}

    def name(self, state: FreeState, placement: Placement) -> tuple[Placement, Wiring] | None:
        """A placement that is taken, its devices in rank order, and its circuits.

        None, and it is given back, where the circuits are not those that were found.
        """
        return placement, NO_WIRING

    def placement(
        self,
        state: FreeState,
        row: Option,
        devices: tuple[Device, ...],
        wiring: Wiring,
        circuits: Sequence[HeldCircuits],
    ) -> Placement:
        """By number all that a job with these circuits holds; `circuits` are those of the wiring by name."""
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

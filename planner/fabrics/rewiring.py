"""What a plug-in offers where the circuits of jobs can be chosen again on the devices that they have."""

from collections.abc import Sequence
from typing import Protocol

from planner.fabrics.ranked_assignment import RankedAssignment
from planner.fabrics.ranked_circuits import RankedCircuit
from planner.model.plan import HeldCircuits

WantedCircuits = tuple[tuple[RankedCircuit | None, ...], ...]
"""what each circuit of a job was on before, by configuration and position; None for one that was not on"""


class Rewiring(Protocol):
    """Chooses routes and wavelengths again."""

    def first_fit(
        self, jobs: Sequence[RankedAssignment], wanted: Sequence[WantedCircuits]
    ) -> list[tuple[HeldCircuits, ...]] | None:
        """Circuits of each job: all that were on stay, the others go around them; None where first fit fails."""
        ...

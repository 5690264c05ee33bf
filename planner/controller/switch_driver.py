"""Interface of drivers that set circuits on optical switches, and their errors."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

Circuits = list[dict[str, Any]]
"""all circuits of one job, configuration after configuration, each as JSON of `planner.model.plan.HeldCircuits`; where
servers are divided, also one without circuits for each part, with its `partition` and `devices`"""

NO_CIRCUITS: Circuits = []
"""of a job that keeps none"""

OnJob = Callable[[str], None]
"""is told the name of a job"""


def holds_all(circuits: Circuits, before: Circuits) -> bool:
    """True if all of these circuits that were on before are among others."""
    return not added(before, circuits)


def added(circuits: Circuits, before: Circuits) -> Circuits:
    """Circuits that are not among those that were on before, whatever dimension these served."""
    known = {_light(each, circuit) for each in before for circuit in each["circuits"] or [None]}
    found = Circuits()
    for each in circuits:
        new = [circuit for circuit in each["circuits"] if _light(each, circuit) not in known]
        if new or (not each["circuits"] and _light(each, None) not in known):
            found.append({**each, "circuits": new})
    return found


def _light(each: dict[str, Any], circuit: dict[str, Any] | None) -> str:
    """A circuit as it is on, with the phase in which it is; or a partition of servers, which has none."""
    about = each if circuit is None else {"phase": each.get("phase"), **circuit}
    return json.dumps(about, sort_keys=True)


class CircuitError(Exception):
    """Circuits of a job could not be put on, or off; the text says why."""

    def __init__(self, message: str, part: str | None = None) -> None:
        super().__init__(message)
        self.part = part
        """what does not work, in the words of `scenarios.damage`, such as s0>s1#0 or s0.t1:port; None: not known"""


class CircuitBusyError(CircuitError):
    """Light of another job is still in the way: it works once that job has given it back."""


class UnsureError(CircuitError):
    """Nobody knows whether the circuits are on: they are to be released, or connected again."""


@dataclass(frozen=True)
class Resynced:
    """Differences between switches and the record."""

    again: tuple[str, ...]
    """jobs whose circuits were lost, and are on again"""
    failed: dict[str, str]
    """jobs whose circuits are lost and could not be put on, with the reason"""
    strange: tuple[str, ...]
    """light that is on for no job, in the words of `parts.taken`"""


class Driver(Protocol):
    """Keeps circuits of jobs on. One that dies in the middle and is called again ends in the same state."""

    def connect(self, job: str, circuits: Circuits) -> None:
        """Put all circuits of a job on, or none and CircuitError; on already: nothing. Those that it has on stay on,
        whatever becomes of the others."""

    def release(self, job: str, but: Circuits = NO_CIRCUITS) -> None:
        """Put all circuits of a job off but these, or CircuitError; off already: nothing. Those that it has on of these
        stay on, unless the driver can only put off all of them."""

    def applied(self) -> dict[str, Circuits]:
        """Circuits that are on by job, and those of which nobody knows."""

    def resync(self, begins: OnJob = lambda job: None) -> Resynced:
        """Read back what is on and put on again what was lost; CircuitError where the switches cannot tell.

        `begins` is told each job whose circuits are about to be put on again: they are not all on meanwhile."""

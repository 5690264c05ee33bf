"""A driver without switches, for the tests of the reconciler."""

from typing import Any

from planner.controller.switch_driver import NO_CIRCUITS
from planner.integrations.switch_drivers import CircuitBusyError, CircuitError, Circuits


class Switches:
    """A driver that refuses light of which a wavelength is taken, and fails as it is told."""

    def __init__(self) -> None:
        self.on: dict[str, Circuits] = {}
        self.calls: list[tuple[str, str]] = []
        self.errors: list[CircuitError] = []
        """of the next connections"""
        self.is_stuck = False
        self.kept: list[Circuits] = []
        """what was to stay on of jobs of which some was put off"""

    def connect(self, job: str, circuits: Circuits) -> None:
        self.calls.append(("connect", job))
        if self.errors:
            raise self.errors.pop(0)
        for other, theirs in self.on.items():
            if other != job and light(theirs) & light(circuits):
                raise CircuitBusyError(f"light of {other}")
        self.on[job] = circuits

    def release(self, job: str, but: Circuits = NO_CIRCUITS) -> None:
        self.calls.append(("release", job))
        if self.is_stuck:
            raise CircuitError("it does not let go")
        if but:
            self.on[job] = but
            self.kept.append(but)
        else:
            self.on.pop(job, None)

    def applied(self) -> dict[str, Circuits]:
        return dict(self.on)


def light(circuits: Circuits) -> set[Any]:
    return {
        (fiber, wavelength)
        for held in circuits
        for circuit in held["circuits"]
        for fiber in circuit["fibers"]
        for wavelength in circuit["wavelengths"]
    }

"""Switches in a file: for tests, and to see what would be switched before there are any."""

import json
from typing import Any

from planner.controller.switch_driver import CircuitError, Circuits
from planner.integrations.switch_drivers.parts import used
from planner.integrations.switch_drivers.recorded import RecordedDriver


class FileDriver(RecordedDriver):
    """Records circuits as real switches would have them.

    `faults.json` in the folder lists parts, such as ["s0>s1#0", "s0.t1:port"], through which none can be made.
    """

    def lit(self) -> list[dict[str, Any]]:
        """All that was recorded: there is no switch that could lose it."""
        return [circuit for circuits in self.applied().values() for held in circuits for circuit in held["circuits"]]

    def set(self, job: str, circuits: Circuits, lock: int) -> None:
        path = self.folder / "faults.json"
        if not path.exists():
            return
        try:
            faults = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise CircuitError(f"{path} lists no parts: {error}") from None
        names = used(circuits)
        for part in faults:
            if part in names:
                raise CircuitError(f"{part} does not work", part)

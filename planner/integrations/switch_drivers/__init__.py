"""Drivers of optical switches, with the standard library alone: hooks of schedulers start fast."""

from pathlib import Path
from typing import Any

from planner.controller.switch_driver import CircuitBusyError, CircuitError, Circuits, Driver, Resynced

__all__ = ["CircuitBusyError", "CircuitError", "Circuits", "Driver", "Resynced", "driver_of"]

COMMAND_TIMEOUT_S = 30.0


def driver_of(spec: dict[str, Any], folder: Path) -> Driver:
    """From {"kind": "file"} or {"kind": "hook", "command": [...], "timeout_s": 30}; its record is kept in `folder`."""
    if spec["kind"] == "hook":
        from planner.integrations.switch_drivers.hook_driver import HookDriver

        return HookDriver(spec["command"], folder, float(spec.get("timeout_s", COMMAND_TIMEOUT_S)))
    from planner.integrations.switch_drivers.file_driver import FileDriver

    return FileDriver(folder)

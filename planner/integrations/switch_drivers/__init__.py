"""Drivers of optical switches; `file` and `hook` with the standard library alone: hooks of schedulers start fast."""

import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

from planner.controller.switch_driver import CircuitBusyError, CircuitError, Circuits, Driver, Resynced
from planner.integrations.switch_drivers.recorded import unfenced

__all__ = ["CircuitBusyError", "CircuitError", "Circuits", "Driver", "Resynced", "driver_of", "unfenced"]

COMMAND_TIMEOUT_S = 30.0


def driver_of(spec: dict[str, Any], folder: Path, fence: Callable[[], int] = unfenced) -> Driver:
    """From {"kind": "file"}, {"kind": "hook", "command": [...], "timeout_s": 30}, {"kind": "ocs", "config": FILE} or
    {"kind": "slices", "config": FILE}; its record is kept in `folder`; `fence` as of a `RecordedDriver`. InputError
    where that file cannot be used."""
    if spec["kind"] == "slices":
        return _slices(Path(spec["config"]), folder, fence)
    if spec["kind"] == "ocs":
        return _ocs(Path(spec["config"]), folder, fence)
    if spec["kind"] == "hook":
        from planner.integrations.switch_drivers.hook_driver import HookDriver

        return HookDriver(spec["command"], folder, float(spec.get("timeout_s", COMMAND_TIMEOUT_S)), fence)
    from planner.integrations.switch_drivers.file_driver import FileDriver

    return FileDriver(folder, fence)


def _ocs(config: Path, folder: Path, fence: Callable[[], int]) -> Driver:
    from planner.integrations.switch_drivers.ocs.config import load_switches
    from planner.integrations.switch_drivers.ocs.driver import OcsDriver
    from planner.model.errors import InputError

    site = load_switches(config)
    try:
        return OcsDriver(folder, site, fence)
    except ModuleNotFoundError as error:
        extra = "switches" if error.name == "httpx" else "gnmi"
        remedy = f"run `pip install 'photonplan[{extra}]'`"
        raise InputError(str(config), "", f"{error.name} is not installed; {remedy}") from None


def _slices(config: Path, folder: Path, fence: Callable[[], int]) -> Driver:
    from planner.integrations.slices.config import load_slices
    from planner.model.errors import InputError

    try:
        from planner.integrations.kubernetes.client import KubernetesClient
        from planner.integrations.kubernetes.client_config import access
        from planner.integrations.slices.driver import SliceDriver
    except ModuleNotFoundError as error:
        remedy = "run `pip install 'photonplan[kubernetes]'`"
        raise InputError(str(config), "", f"{error.name} is not installed; {remedy}") from None
    site = load_slices(config)
    api = KubernetesClient(access(site.kubeconfig))
    driver = SliceDriver(folder, site, api, fence)
    weakref.finalize(driver, api.close)
    return driver

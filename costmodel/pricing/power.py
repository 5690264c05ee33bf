"""Energy of a job's accelerators by what they do, up to the limit of the part, and of the servers around them.

While kernels run, those of messages too, an accelerator draws its idle power, what running takes whatever it computes,
and the energy of its operations and of its memory's bytes; it draws idle power alone while it waits for others. Beyond
the limit of the part the clock falls, so that all but idle power shrinks alike; times are those measured, with falling
clocks.
"""

from dataclasses import dataclass

import numpy as np

from costmodel.fabrics import FabricBase
from costmodel.hardware.device import Device
from costmodel.hardware.systems import device_overhead_w
from costmodel.parallelism.mappings import Floats


@dataclass(frozen=True)
class Drawn:
    """What one accelerator runs and moves in a step, columns of shape (C,)."""

    busy_s: Floats
    """operators run, or the software between them"""
    sending_s: Floats
    """messages pass, and no operators beside them"""
    compute_j: Floats
    memory_j: Floats
    """of its own memory"""
    tier_j: Floats
    """of a second memory tier, which is no part of it"""

    def often(self, steps: Floats, engine_s: Floats) -> "Drawn":
        """Of so many such steps, after each of which software keeps the accelerator running for `engine_s`."""
        busy_s = self.busy_s + engine_s
        every = busy_s, self.sending_s, self.compute_j, self.memory_j, self.tier_j
        return Drawn(*(steps * column for column in every))

    def energies(self, device: Device, num_devices: Floats, power_limit_w: Floats | float) -> dict[str, Floats]:
        """Joules of all accelerators by column of Scores, each times the share that the power limit leaves of it."""
        active_j = self.busy_s * device.active_w
        share = self._within_limit(self.compute_j + self.memory_j + active_j, power_limit_w - device.idle_w)
        return {
            "compute_j": share * self.compute_j * num_devices,
            "memory_j": (share * self.memory_j + self.tier_j) * num_devices,
            "active_j": (share * active_j + self.sending_s * device.active_w) * num_devices,
        }

    def _within_limit(self, asked_j: Floats, above_idle_w: Floats | float) -> Floats:
        if np.all(np.isinf(above_idle_w)):
            return np.ones_like(asked_j)
        most_j = self.busy_s * np.maximum(above_idle_w, 0.0)
        return np.divide(most_j, asked_j, out=np.ones_like(asked_j), where=asked_j > most_j)


def waiting_j(seconds: Floats, device: Device, fabric: FabricBase, num_devices: Floats) -> dict[str, Floats]:
    """What so many accelerators and their share of servers draw all the time, whatever they do."""
    device_s = seconds * num_devices
    return {"static_j": device_s * device.idle_w, "node_j": device_s * node_w(device, fabric)}


def power_in_words(device: Device) -> str:
    """That the power of a part of the catalog is an estimate; "" where it was fitted, or a file says it."""
    if device.power_origin or "active" not in device.sources:
        return ""
    return f"energies are estimates: the power of {device.name} was fitted on no measurement"


def node_w(device: Device, fabric: FabricBase) -> float:
    """Power of a server without its accelerators, for each of them: the fabric's, or the catalog's for the device."""
    if fabric.node_overhead_w is None:
        return device_overhead_w(device)
    return fabric.node_overhead_w / fabric.devices_per_server

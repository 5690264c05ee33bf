"""Servers as they are sold: a device, how many share a scale-up network, and the network behind them."""

from functools import cache
from typing import Literal

from pydantic import Field

from costmodel.catalog import unknown_name
from costmodel.hardware.device import Device, device_names, load_device
from costmodel.hardware.parts import SourcedPart, load_part, part_names
from costmodel.spec import BytesPerSecond, JoulesPerByte, Latency, Watts

KIND: Literal["system"] = "system"
USUAL = "dgx-h100"
"""servers of a device that nothing is known of, as its numbers are those of H100 where none are given"""


class System(SourcedPart):
    """One server and its ports; bandwidths are published peaks of one direction, per GPU.

    A server is what a scale-up network joins, such as the 72 GPUs of one NVLink domain, however many hosts it has.
    """

    kind: Literal["system"] = KIND
    device: str
    gpus_per_server: int = Field(ge=1)
    nvlink_bandwidth_bytes_per_s: BytesPerSecond
    nvlink_alpha_s: Latency
    nvlink_energy_j_per_byte: JoulesPerByte
    nvlink_is_mesh: bool = False
    """whether each pair of GPUs has a link of its own instead of a switch between all"""
    network_bandwidth_bytes_per_s: BytesPerSecond
    network_alpha_s: Latency
    network_energy_j_per_byte: JoulesPerByte
    node_overhead_w: Watts
    """power of the server without its accelerators: processors, adapters, fans, losses of power supplies"""


def load_system(name: str) -> System:
    """A system of the catalog by its name; ValueError names the nearest ones where it is unknown."""
    return load_part(System, KIND, name)


def system_of(device: str) -> System:
    """The catalog's system that is built from a device; ValueError where there is none."""
    wanted = load_device(device).name
    found = _systems().get(wanted)
    if found is None:
        raise unknown_name("system of device", wanted, _systems())
    return found


def nearest_system(device: Device) -> System:
    """The system built from a device, from one that it is like, or the usual one where a file describes it alone."""
    for name in device.ancestry:
        if found := _systems().get(name):
            return found
    return system_of(device.name) if device.name in device_names() else load_system(USUAL)


def device_overhead_w(device: Device) -> float:
    """Power of a server's own parts for each accelerator: of the system built from the device, or from one it is like.

    Where there is none, as large a share of the device's power limit as on the usual system.
    """
    for name in device.ancestry:
        if found := _systems().get(name):
            return found.node_overhead_w / found.gpus_per_server
    usual = load_system(USUAL)
    usual_w, limit_w = usual.node_overhead_w / usual.gpus_per_server, load_device(usual.device).power_limit_w
    return usual_w if device.power_limit_w is None or not limit_w else usual_w * device.power_limit_w / limit_w


@cache
def _systems() -> dict[str, System]:
    """Systems of the catalog by the name of their device."""
    return {system.device: system for system in map(load_system, part_names(KIND))}

"""Servers as they are sold: a device, how many share a scale-up switch, and the network behind them."""

from typing import Literal

from pydantic import Field

from costmodel.catalog import unknown_name
from costmodel.hardware.device import load_device
from costmodel.hardware.parts import SourcedPart, load_part, part_names
from costmodel.spec import BytesPerSecond, JoulesPerByte, Latency

KIND: Literal["system"] = "system"


class System(SourcedPart):
    """One server and its ports; bandwidths are published peaks of one direction, per GPU."""

    kind: Literal["system"] = KIND
    device: str
    gpus_per_server: int = Field(ge=1)
    nvlink_bandwidth_bytes_per_s: BytesPerSecond
    nvlink_alpha_s: Latency
    nvlink_energy_j_per_byte: JoulesPerByte
    network_bandwidth_bytes_per_s: BytesPerSecond
    network_alpha_s: Latency
    network_energy_j_per_byte: JoulesPerByte


def load_system(name: str) -> System:
    """A system of the catalog by its name; ValueError names the nearest ones where it is unknown."""
    return load_part(System, KIND, name)


def system_of(device: str) -> System:
    """The catalog's system that is built from a device; ValueError where there is none."""
    wanted = load_device(device).name
    for name in part_names(KIND):
        system = load_system(name)
        if system.device == wanted:
            return system
    raise unknown_name("system of device", wanted, [load_system(name).device for name in part_names(KIND)])

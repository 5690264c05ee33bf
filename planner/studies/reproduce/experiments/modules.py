"""Arithmetic of an optical memory part: what follows from its fibers, wavelengths, lanes, stacks and ports."""

from collections.abc import Callable
from typing import Any

from pydantic import field_validator

from costmodel.catalog import documents, unknown_name
from costmodel.hardware.optical_hbm import load_optical_hbm
from costmodel.hardware.photonic_appliance import load_memory_appliance
from costmodel.spec import Spec

BY_1024 = 1.024
"""of a published tera that counts 1024 giga"""


class Inputs(Spec):
    """A part of the catalog of one of the kinds below."""

    part: str

    @field_validator("part")
    @classmethod
    def _is_known(cls, part: str) -> str:
        known = [name for name, content in documents().items() if content.get("kind") in QUANTITIES]
        if part not in known:
            raise unknown_name("module", part, known)
        return part


def compute(inputs: Inputs) -> dict[str, float]:
    """Counts, bytes and bytes/s of the part."""
    kind: Any = documents()[inputs.part]["kind"]
    return QUANTITIES[kind](inputs.part)


def optical_hbm(name: str) -> dict[str, float]:
    """Multi-stack HBM on fibers: one channel, one pair of chiplets, one accelerator."""
    part = load_optical_hbm(name)
    tier = part.tier()
    return {
        "channels per pair": part.channels_per_pair,
        "fibers per channel": part.channel.fibers,
        "edge per pair": part.pair_edge_m,
        "channel rate": part.channel.bytes_per_s,
        "channel rate by 1024": part.channel.bytes_per_s / BY_1024,
        "interface module rate": part.interface.module_bytes_per_s,
        "interface rate": part.interface.bytes_per_s,
        "optical rate": part.optical_bytes_per_s,
        "stacks rate": part.stacks_bytes_per_s,
        "pair rate": part.pair_bytes_per_s,
        "pair rate by 1024": part.pair_bytes_per_s / BY_1024,
        "device rate": tier.bandwidth_bytes_per_s,
        "device rate by 1024": tier.bandwidth_bytes_per_s / BY_1024,
        "module capacity": part.module_bytes,
        "device capacity": tier.capacity_bytes,
    }


def memory_appliance(name: str) -> dict[str, float]:
    """An appliance and the clusters that several of them serve."""
    part = load_memory_appliance(name)
    memory = part.memory()
    evaluated = part.evaluated_bytes_per_s or part.switching_bytes_per_s
    found = {
        "hbm capacity": part.hbm_bytes,
        "ddr capacity": part.ddr_bytes,
        "ports": part.ports,
        "port rate": part.port_bytes_per_s,
        "switching rate": part.switching_bytes_per_s,
        "evaluated rate": evaluated,
        "ports for evaluated rate": part.ports_for(evaluated),
        "read rate all hits": float(memory.read_bytes_per_s(1.0)),
        "read rate no hits": float(memory.read_bytes_per_s(0.0)),
        "write rate": memory.write_bytes_per_s(),
    }
    for accelerators in part.tiered_accelerators:
        found[f"appliances for {accelerators}"] = part.appliances_for(accelerators)
        found[f"ddr capacity for {accelerators}"] = part.appliances_for(accelerators) * part.ddr_bytes
    return found


QUANTITIES: dict[str, Callable[[str], dict[str, float]]] = {
    "optical_hbm": optical_hbm,
    "memory_appliance": memory_appliance,
}
"""kind of part -> its arithmetic"""

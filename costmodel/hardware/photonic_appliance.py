"""A shared memory of modules, each with a port of light, stacks of HBM and DDR behind them.

The HBM is a write-through cache of the DDR; a crossbar joins every port to every module. Larger clusters tier
several appliances. Source: Ding and Diep, arXiv:2507.14000, section 3.
"""

import math
from typing import Literal

from pydantic import Field

from costmodel.hardware.memory.tier import MemoryTier, TierOrName
from costmodel.hardware.memory.write_through import WriteThrough
from costmodel.hardware.parts import SourcedPart, load_part
from costmodel.spec import BytesPerSecond, Count, NumParts

KIND: Literal["memory_appliance"] = "memory_appliance"


class MemoryAppliance(SourcedPart):
    """One appliance; `ports` accelerators attach to it, one to each module."""

    kind: Literal["memory_appliance"] = KIND
    modules: NumParts
    """modules of an appliance"""
    stacks_per_module: NumParts
    """stacks of HBM in a module"""
    stack: TierOrName
    """one stack of HBM"""
    ddr: TierOrName
    """all DDR of one module"""
    port_bytes_per_s: BytesPerSecond = Field(alias="port_rate")
    """of one module's optical port, one direction"""
    ports_per_module: NumParts = 1
    """optical ports of a module"""
    tiered_accelerators: tuple[Count, ...] = ()
    """sizes of clusters that several appliances serve"""
    evaluated_bytes_per_s: BytesPerSecond | None = Field(default=None, alias="evaluated_rate")
    """bandwidth that the maker's evaluation gives one accelerator or group; absent where it is that of the ports"""

    @property
    def ports(self) -> int:
        return self.modules * self.ports_per_module

    @property
    def switching_bytes_per_s(self) -> float:
        """Of all ports, one direction."""
        return self.ports * self.port_bytes_per_s

    @property
    def hbm_bytes(self) -> float:
        return self.modules * self.stacks_per_module * self.stack.capacity_bytes

    @property
    def ddr_bytes(self) -> float:
        return self.modules * self.ddr.capacity_bytes

    def appliances_for(self, accelerators: int) -> int:
        """Appliances whose ports take so many accelerators, one port each."""
        return math.ceil(accelerators / self.ports)

    def ports_for(self, bytes_per_s: float) -> int:
        """Ports that it takes to carry a bandwidth; more than `ports` cannot be had."""
        return math.ceil(bytes_per_s / self.port_bytes_per_s - 1e-9)

    def memory(self) -> WriteThrough:
        """HBM, DDR and ports of the whole appliance."""
        stacks = self.modules * self.stacks_per_module
        return WriteThrough(
            cache=_several(self.stack, stacks), backing=_several(self.ddr, self.modules),
            ports_bytes_per_s=self.switching_bytes_per_s,
        )  # fmt: skip

    def tier(self, bytes_per_s: float | None = None) -> MemoryTier:
        """Everything as one memory of the DDR's capacity whose bytes are found in the HBM, at the ports' bandwidth.

        `bytes_per_s` replaces that of the ports, where a reading differs.
        """
        memory = self.memory()
        return MemoryTier(
            name=self.name,
            capacity_bytes=self.ddr_bytes,
            bandwidth_bytes_per_s=bytes_per_s or float(memory.read_bytes_per_s(1.0)),
            latency_s=memory.cache.latency_s,
            energy_j_per_byte=memory.cache.energy_j_per_byte,
            source=self.source,
        )


def _several(tier: MemoryTier, count: int) -> MemoryTier:
    """So many of one memory side by side."""
    grown = {
        "capacity_bytes": count * tier.capacity_bytes,
        "bandwidth_bytes_per_s": count * tier.bandwidth_bytes_per_s,
        "sources": {},
    }
    return tier.model_copy(update=grown)


def load_memory_appliance(name: str) -> MemoryAppliance:
    """An appliance of the catalog by its name; ValueError names the nearest ones where it is unknown."""
    return load_part(MemoryAppliance, KIND, name)

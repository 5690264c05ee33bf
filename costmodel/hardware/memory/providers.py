"""Memories that an accelerator may have, each with its ways to divide the optical ports; the key "kind" selects one."""

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from costmodel.counts import MOST_PARTS
from costmodel.hardware.device import Device, load_device
from costmodel.hardware.memory.behind import TierBehind
from costmodel.hardware.memory.choices import Floats, Ints, MemoryChoices
from costmodel.hardware.memory.limits import L2_PASSES
from costmodel.hardware.memory.tier import MemoryTier, TierOrName
from costmodel.hardware.memory.write_through import WriteThrough
from costmodel.hardware.optical_hbm import OpticalHbm, load_optical_hbm
from costmodel.hardware.parts import by_name
from costmodel.hardware.photonic_appliance import MemoryAppliance, load_memory_appliance
from costmodel.hardware.routes import RouteParts, Scenario, load_route_parts
from costmodel.memory_pool.pool import MemoryPool
from costmodel.spec import Count, JoulesPerByte, Latency, NumParts, Spec

L2Passes = Annotated[float | None, Field(ge=1)]
"""times that each byte crosses the last cache, whose bandwidth limits the memory's; null: no limit"""


class LocalHbm(Spec):
    """Stacks beside the die, as many as the device has: one choice, which takes no port."""

    kind: Literal["local_hbm"] = "local_hbm"
    device: Annotated[Device, by_name(load_device)]
    stack: TierOrName
    """for its latency and to count stacks; capacity, bandwidth and energy are the device's"""

    def choices(self) -> MemoryChoices:
        """The device's own memory."""
        none = np.zeros(1, np.int64)
        return MemoryChoices(
            name=self.device.name,
            source=self.device.source,
            units=np.array([round(self.device.capacity_bytes / self.stack.capacity_bytes)]),
            memory_io=none,
            network_io=none,
            capacity_bytes=np.array([self.device.capacity_bytes]),
            bytes_per_s=np.array([self.device.memory_bytes_per_s]),
            network_bytes_per_s=np.zeros(1),
            latency_s=np.array([self.stack.latency_s]),
            added_latency_s=np.zeros(1),
            j_per_byte=np.array([self.device.memory_j_per_byte]),
        )


class OpticalModules(Spec):
    """Modules of several stacks on fibers, each behind a pair of chiplets; a pair without a module is a port."""

    kind: Literal["optical_modules"] = "optical_modules"
    part: Annotated[OpticalHbm, by_name(load_optical_hbm)]
    """the modules of one accelerator: a name of the catalog, or all fields inline"""
    l2_passes: L2Passes = L2_PASSES
    """times that each byte crosses the last cache, whose bandwidth limits the memory's; null: no limit"""
    second_tier: TierBehind | None = None
    """slower memory behind each module, to which jobs may offload; absent where there is none"""

    def tier_behind(self, modules: int) -> MemoryTier | None:
        """The second tier of an accelerator with so many modules; None where there is none."""
        tier = self.second_tier
        return None if tier is None else tier.tier(modules * tier.units, modules * self.part.stacks_bytes_per_s)

    def choices(self) -> MemoryChoices:
        """One module to one behind every pair."""
        part, tier = self.part, self.part.tier()
        modules = np.arange(1, part.pairs + 1)
        count = modules.astype(np.float64)
        port_bytes_per_s = min(part.optical_bytes_per_s, part.interface.bytes_per_s)
        return MemoryChoices(
            name=part.name,
            source=part.source,
            units=modules,
            memory_io=modules,
            network_io=part.pairs - modules,
            capacity_bytes=count * part.module_bytes,
            bytes_per_s=count * part.pair_bytes_per_s,
            network_bytes_per_s=(part.pairs - count) * port_bytes_per_s,
            latency_s=np.full(len(modules), tier.latency_s),
            added_latency_s=np.full(len(modules), part.link_latency_s),
            j_per_byte=np.full(len(modules), tier.energy_j_per_byte),
            l2_passes=self.l2_passes,
        )


class MemoryRoute(Spec):
    """Parts that a byte passes between an accelerator and its memory."""

    parts: Annotated[RouteParts, by_name(load_route_parts)]
    """parts and routes: a name of the catalog, or all fields inline"""
    scenario: Scenario = "tray_memory"
    """which of the routes is taken"""
    switches: int | None = Field(default=None, ge=0, le=MOST_PARTS)
    """on the way; absent: the fewest"""

    @model_validator(mode="after")
    def _is_a_route(self) -> Self:
        self.parts.j_per_byte(self.scenario, self.switches)
        return self

    @property
    def j_per_byte(self) -> float:
        return self.parts.j_per_byte(self.scenario, self.switches)


CROSSBAR = MemoryRoute(parts=load_route_parts("routes-photonic-text"), switches=1)
"""of an appliance, which joins every port to every module: light at both ends, and one switch"""


class _Attached(Spec):
    """Accelerators on the ports of appliances. Some of what they read is found in the HBM, and else comes from the DDR
    behind it."""

    part: Annotated[MemoryAppliance, by_name(load_memory_appliance)]
    """one appliance: a name of the catalog, or all fields inline"""
    ports: int = Field(ge=1, le=128)
    """optical ports of one accelerator, of the rate of the appliance's"""
    hit: float | None = Field(default=None, ge=0, le=1)
    """share of the bytes that are read from the HBM; absent: by what a job keeps, and how it reads that"""
    l2_passes: L2Passes = L2_PASSES
    """times that each byte crosses the last cache, whose bandwidth limits the memory's; null: no limit"""
    link_latency_s: Latency = 0.0
    """added to that of the stacks"""
    route: MemoryRoute = CROSSBAR
    """for the energy of a byte beside that of the stacks"""
    link_j_per_byte: JoulesPerByte | None = Field(default=None, alias="link_energy")
    """instead of that of the route"""

    def hit_of(self, found: float) -> float:
        """The share that is stated, or the one that is found."""
        return found if self.hit is None else self.hit

    @property
    def _memory(self) -> WriteThrough:
        """Of one appliance, before its ports."""
        return replace(self.part.memory(), ports_bytes_per_s=math.inf)

    def _choices(
        self, hit: float, units: Ints, ports: Ints, capacity_bytes: Floats, behind_bytes_per_s: Floats
    ) -> MemoryChoices:
        """What so many ports of one accelerator give, of shape (S,), with so much memory and bandwidth behind them."""
        part, memory = self.part, self._memory
        latency_s = float(memory.read_latency_s(hit)) + self.link_latency_s
        link_j_per_byte = self.route.j_per_byte if self.link_j_per_byte is None else self.link_j_per_byte
        return MemoryChoices(
            name=part.name,
            source=part.source,
            units=units,
            memory_io=ports,
            network_io=self.ports - ports,
            capacity_bytes=capacity_bytes,
            bytes_per_s=np.minimum(ports * part.port_bytes_per_s, behind_bytes_per_s),
            network_bytes_per_s=(self.ports - ports.astype(np.float64)) * part.port_bytes_per_s,
            latency_s=np.full(len(ports), latency_s),
            added_latency_s=np.full(len(ports), latency_s - memory.cache.latency_s),
            j_per_byte=np.full(len(ports), float(memory.read_j_per_byte(hit)) + link_j_per_byte),
            l2_passes=self.l2_passes,
            cache_bytes=None if self.hit is not None else capacity_bytes * (part.hbm_bytes / part.ddr_bytes),
        )


class ApplianceShare(_Attached):
    """An accelerator's equal share of the appliances that serve a cluster; it may attach by several ports.

    With p ports each, n accelerators take ceil(n p / ports) appliances.
    """

    kind: Literal["appliance_share"] = "appliance_share"
    accelerators: Count
    """of the cluster; the part lists tiers that its maker names"""

    @model_validator(mode="after")
    def _ports_fit_one_appliance(self) -> Self:
        if self.ports > self.part.ports:
            raise ValueError(f"ports: {self.ports} of one accelerator, the appliance has {self.part.ports}; give fewer")
        return self

    def appliances(self, ports: int) -> int:
        """That serve the cluster where each accelerator attaches by so many ports."""
        return math.ceil(self.accelerators * ports / self.part.ports)

    def choices(self, found: float = 1.0) -> MemoryChoices:
        """One port for memory to all of them, where such a share of reads is found in the HBM."""
        ports, hit = np.arange(1, self.ports + 1), self.hit_of(found)
        share = np.array([self.appliances(int(each)) for each in ports]) / self.accelerators
        behind = share * float(self._memory.read_bytes_per_s(hit))
        return self._choices(hit, ports, ports, share * self.part.ddr_bytes, behind)


class Appliances(_Attached):
    """Appliances that the accelerators of a server share, each of which takes whole modules, by any ports."""

    kind: Literal["appliances"] = "appliances"
    per_server: NumParts
    """appliances that the accelerators of a server share"""
    second_tier: TierBehind | None = None
    """slower memory behind each appliance, shared as its modules are, to which jobs may offload; absent where there is
    none"""

    @model_validator(mode="after")
    def _ports_are_there(self) -> Self:
        if self.ports > self.all_ports:
            raise ValueError(
                f"ports: {self.ports} of one accelerator, the appliances of a server have {self.all_ports}; give fewer "
                "ports, or more appliances per_server"
            )
        return self

    @property
    def modules(self) -> int:
        """Of a server."""
        return self.per_server * self.part.modules

    @property
    def all_ports(self) -> int:
        """Of the appliances of a server."""
        return self.per_server * self.part.ports

    @property
    def tier_units(self) -> int:
        """Units of the second tier behind the appliances of a server."""
        return self.per_server * self.second_tier.units if self.second_tier else 0

    def tiers_behind(self, modules: int) -> Mapping[int, MemoryTier]:
        """By units, the second tiers that an accelerator with so many modules may have: 1, 2, 4, ... of them."""
        if self.second_tier is None:
            return {}
        taken = modules * self._memory.write_bytes_per_s() / self.part.modules
        return {units: self.second_tier.tier(units, taken) for units in _doubled(self.tier_units)}

    def choices(self, found: float = 1.0) -> MemoryChoices:
        """One port for memory to all of them, each with 1, 2, 4, ... modules and the fewest that fill the ports from
        the HBM; where such a share of reads is found there."""
        hit, (units, ports) = self.hit_of(found), self._units_and_ports
        behind = units * self._module_bytes_per_s(hit)
        return self._choices(hit, units, ports, units * self.part.ddr.capacity_bytes, behind)

    @cached_property
    def _units_and_ports(self) -> Ints:
        """(2, S): modules and ports of each choice."""
        fastest = self._module_bytes_per_s(self.hit_of(1.0))
        pairs = [
            (units, ports)
            for ports in range(1, self.ports + 1)
            for units in self._units(math.ceil(ports * self.part.port_bytes_per_s / fastest - 1e-9))
        ]
        return np.array(pairs, np.int64).T

    def _module_bytes_per_s(self, hit: float) -> float:
        return float(self._memory.read_bytes_per_s(hit)) / self.part.modules

    def _units(self, enough: int) -> list[int]:
        return sorted({*_doubled(self.modules), *([enough] if enough <= self.modules else ())})


def _doubled(most: int) -> list[int]:
    """1, 2, 4, ... up to a number."""
    return [2**k for k in range(most.bit_length())]


Memory = Annotated[LocalHbm | MemoryPool | OpticalModules | ApplianceShare | Appliances, Field(discriminator="kind")]
"""what is read from a file; each is a `MemoryProvider`"""

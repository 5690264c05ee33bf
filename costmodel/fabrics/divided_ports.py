"""Servers whose accelerators divide optical ports between memory behind light and the network.

Memory is either modules of HBM of each accelerator alone, or appliances that the accelerators of a server share.
Sources: Ou et al., IEEE Comput. Archit. Lett. 24 (2025); Ding and Diep (arXiv:2507.14000). That ports without memory
join the network is not in them.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from costmodel.fabrics.base import Split
from costmodel.fabrics.fat_tree import FatTree, Islands
from costmodel.fabrics.inventory import Parts, PriceClass
from costmodel.fabrics.server_shares import ServerShares
from costmodel.hardware.device import Device
from costmodel.hardware.memory.choices import CachedDevice, MemoryChoices
from costmodel.hardware.memory.providers import Appliances, OpticalModules
from costmodel.hardware.memory.tier import MemoryTier
from costmodel.spec import JoulesPerByte

if TYPE_CHECKING:
    from costmodel.workloads import Workload

KNOWN_HITS = 64
"""shares of hits whose choices are remembered: rows ask for the same ones in turn"""


class DividedPorts(ServerShares, Islands):
    """Each job divides the optical ports of its accelerators: some serve memory, the others add to the network.

    A port without memory adds its rate to what the accelerator has inside its server and between servers; messages
    go over all of it at once, at the latency of NVLink or network. The device's own memory counts for nothing.
    """

    has_remote_memory = True
    measures_fragmentation = False
    share_names: ClassVar[tuple[str, ...]] = "modules", "ports", "second-tier units"
    share_owner: ClassVar[str] = "appliances"

    kind: Literal["divided_ports"] = "divided_ports"
    memory: Annotated[OpticalModules | Appliances, Field(discriminator="kind")]
    """what serves memory behind the ports: modules of each accelerator, or appliances that a server shares"""
    port_energy_j_per_byte: JoulesPerByte
    """of a byte over a port that serves the network"""

    @property
    def places_whole_jobs(self) -> bool:
        return True

    @property
    def shared(self) -> tuple[int, int, int] | None:
        """Those of its appliances; None where each accelerator has modules of its own."""
        memory = self.memory
        return (memory.modules, memory.all_ports, memory.tier_units) if isinstance(memory, Appliances) else None

    def _port_prices(self) -> Mapping[PriceClass, int]:
        """One into the network, and the ports that are divided."""
        memory = self.memory
        divided = memory.ports if isinstance(memory, Appliances) else memory.part.pairs
        return {"electrical_port": self.num_devices, "optical_port": self.num_devices * divided}

    def _other_parts(self, devices: Parts) -> Iterator[Parts]:
        """A module behind each pair of chiplets, or the modules and ports of appliances, which servers share."""
        memory = self.memory
        if isinstance(memory, Appliances):
            servers = self._parts_of_servers()
            ports, modules = self.num_servers * memory.all_ports, self.num_servers * memory.modules
            yield servers.of_each("appliance port", ".p", memory.all_ports, {"optical_port": ports})
            yield servers.of_each("memory module", ".m", memory.modules, {"memory_unit": modules})
            if memory.tier_units:
                behind: dict[PriceClass, int] = {"memory_unit": self.num_servers * memory.tier_units}
                yield servers.of_each("second-tier unit", ".d", memory.tier_units, behind)
        else:
            number = self.num_devices * memory.part.pairs
            prices: dict[PriceClass, int] = {"optical_port": number, "memory_unit": number}
            each_module = devices.of_each("memory module", ".m", memory.part.pairs, prices)
            yield each_module
            if memory.second_tier:
                each = memory.second_tier.units
                yield each_module.of_each("second-tier unit", ".d", each, {"memory_unit": number * each})

    def splits(self, device: Device, workload: "Workload | None" = None) -> tuple[Split, ...]:
        """One for each choice of the memory; jobs have the same."""
        return _splits(_Asked(f"{self._text}{device.model_dump_json()}", self, device))

    @cached_property
    def _text(self) -> str:
        return self.model_dump_json()

    def network(self, free_bytes_per_s: float) -> FatTree:
        """The servers as a job sees them whose accelerators have ports of such a rate left."""
        fields = {name: getattr(self, name) for name in FatTree.model_fields if name != "kind"}
        for link in ("nvlink", "network"):
            rate, energy = f"{link}_bandwidth_bytes_per_s", f"{link}_energy_j_per_byte"
            fields[rate] += free_bytes_per_s
            share = free_bytes_per_s / fields[rate]
            fields[energy] = (1 - share) * fields[energy] + share * self.port_energy_j_per_byte
        return FatTree.model_validate(fields)


@dataclass(frozen=True)
class _Asked:
    """All that the splits depend on, by its text; the objects come along."""

    text: str
    fabric: DividedPorts = field(compare=False)
    device: Device = field(compare=False)


@lru_cache(maxsize=64)
def _splits(asked: _Asked) -> tuple[Split, ...]:
    """One for each choice of the memory; behind appliances, where these have a second tier, one more for each number of
    its units."""
    memory = asked.fabric.memory
    choices = memory.choices()
    where_found = lru_cache(maxsize=KNOWN_HITS)(memory.choices) if isinstance(memory, Appliances) else None
    networks = {rate: asked.fabric.network(rate) for rate in choices.network_bytes_per_s.tolist()}
    found = []
    for row in range(len(choices)):
        network = networks[float(choices.network_bytes_per_s[row])]
        units, device = int(choices.units[row]), choices.device(row, asked.device)
        split = Split(device, network, units, int(choices.memory_io[row]), _cached(asked, choices, row, where_found))
        if isinstance(memory, Appliances):
            tiers = memory.tiers_behind(units).items()
            found += [split, *(_with_tier(split, tier, number) for number, tier in tiers)]
        else:
            tier = memory.tier_behind(units)
            found.append(split if tier is None else replace(split, device=_offloading(device, tier)))
    return tuple(found)


def _with_tier(split: Split, tier: MemoryTier, units: int) -> Split:
    """The same with so many units of a second tier."""
    plain, device = split.cached, _offloading(split.device, tier)
    cached = plain and CachedDevice(plain.cache_bytes, lambda hit: _offloading(plain.at(hit), tier))
    return replace(split, device=device, cached=cached, second_tiers=(tier.name,), tier_units=units)


def _offloading(device: Device, tier: MemoryTier) -> Device:
    return device.model_copy(update={"offload": tier})


def _cached(
    asked: _Asked, choices: MemoryChoices, row: int, where_found: Callable[[float], MemoryChoices] | None
) -> CachedDevice | None:
    """Of appliances whose rate of hits is not stated."""
    if where_found is None or choices.cache_bytes is None:
        return None
    return CachedDevice(float(choices.cache_bytes[row]), lambda hit: where_found(hit).device(row, asked.device))

"""Servers whose accelerators divide optical ports between memory behind light and the network.

Memory is either modules of HBM of each accelerator alone, or appliances that the accelerators of a server share.
Sources: Ou et al., IEEE Comput. Archit. Lett. 24 (2025); Ding and Diep (arXiv:2507.14000). That ports without memory
join the network is not in them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from costmodel.fabrics.base import Split
from costmodel.fabrics.fat_tree import FatTree, Islands
from costmodel.fabrics.inventory import Parts, PriceClass
from costmodel.hardware.device import Device
from costmodel.hardware.memory.choices import CachedDevice, MemoryChoices
from costmodel.hardware.memory.providers import Appliances, OpticalModules
from costmodel.spec import JoulesPerByte

if TYPE_CHECKING:
    from costmodel.workloads import Workload


class DividedPorts(Islands):
    """Each job divides the optical ports of its accelerators: some serve memory, the others add to the network.

    A port without memory adds its rate to what the accelerator has inside its server and between servers; messages
    go over all of it at once, at the latency of NVLink or network. The device's own memory counts for nothing.
    """

    has_remote_memory = True
    measures_fragmentation = False

    kind: Literal["divided_ports"] = "divided_ports"
    memory: Annotated[OpticalModules | Appliances, Field(discriminator="kind")]
    """what serves memory behind the ports: modules of each accelerator, or appliances that a server shares"""
    port_energy_j_per_byte: JoulesPerByte
    """of a byte over a port that serves the network"""

    @property
    def places_whole_jobs(self) -> bool:
        return True

    @property
    def shared(self) -> tuple[int, int] | None:
        """Modules and ports that the accelerators of a server share; None where each has its own."""
        return (self.memory.modules, self.memory.all_ports) if isinstance(self.memory, Appliances) else None

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
        else:
            number = self.num_devices * memory.part.pairs
            prices: dict[PriceClass, int] = {"optical_port": number, "memory_unit": number}
            yield devices.of_each("memory module", ".m", memory.part.pairs, prices)

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
    choices = asked.fabric.memory.choices()
    return tuple(
        Split(
            choices.device(row, asked.device),
            asked.fabric.network(float(choices.network_bytes_per_s[row])),
            int(choices.units[row]),
            int(choices.memory_io[row]),
            _cached(asked, choices, row),
        )
        for row in range(len(choices))
    )


def _cached(asked: _Asked, choices: MemoryChoices, row: int) -> CachedDevice | None:
    """Of appliances whose rate of hits is not stated."""
    memory = asked.fabric.memory
    if not isinstance(memory, Appliances) or choices.cache_bytes is None:
        return None

    def made(hit: float) -> Device:
        return memory.choices(hit).device(row, asked.device)

    return CachedDevice(float(choices.cache_bytes[row]), made)

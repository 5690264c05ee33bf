"""Servers whose accelerators divide optical ports between memory behind light and the network.

Memory is either modules of HBM of each accelerator alone, or appliances that the accelerators of a server share.
Sources: Ou et al., IEEE Comput. Archit. Lett. 24 (2025); Ding and Diep (arXiv:2507.14000). That ports without memory
join the network is not in them.
"""

from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from costmodel.fabrics.base import Split
from costmodel.fabrics.fat_tree import FatTree, Islands
from costmodel.hardware.device import Device
from costmodel.hardware.memory.providers import Appliances, OpticalModules
from costmodel.spec import JoulesPerByte

if TYPE_CHECKING:
    from costmodel.workloads import Workload


class DividedPorts(Islands):
    """Each job divides the optical ports of its accelerators: some serve memory, the others add to the network.

    A port without memory adds its rate to what the accelerator has inside its server and between servers; messages
    go over all of it at once, at the latency of NVLink or network. The device's own memory counts for nothing.
    """

    kind: Literal["divided_ports"] = "divided_ports"
    memory: Annotated[OpticalModules | Appliances, Field(discriminator="kind")]
    port_energy_j_per_byte: JoulesPerByte
    """of a byte over a port that serves the network"""

    @property
    def has_remote_memory(self) -> bool:
        return True

    @property
    def measures_fragmentation(self) -> bool:
        return False

    @property
    def places_whole_jobs(self) -> bool:
        return True

    @property
    def shared(self) -> tuple[int, int] | None:
        """Modules and ports that the accelerators of a server share; None where each has its own."""
        return (self.memory.modules, self.memory.all_ports) if isinstance(self.memory, Appliances) else None

    def splits(self, device: Device, workload: "Workload | None" = None) -> tuple[Split, ...]:
        """One for each choice of the memory; jobs have the same."""
        return _splits(_Asked(f"{self._text}{device.model_dump_json()}", self, device))

    @cached_property
    def _text(self) -> str:
        return self.model_dump_json()

    def network(self, free_bytes_per_s: float) -> FatTree:
        """The servers as a job sees them whose accelerators have ports of such a rate left."""
        fields = {name: getattr(self, name) for name in Islands.model_fields if name != "kind"}
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
        )
        for row in range(len(choices))
    )

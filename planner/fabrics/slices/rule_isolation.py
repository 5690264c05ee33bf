"""A placement alone on slices: servers are alike, and so are racks, but for the names of their switches."""

from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256

from costmodel.fabrics import FabricBase
from planner.checks.isolation import Isolation, numbered
from planner.model.cluster import Cluster
from planner.model.lying import Lying, Wires


class SlicedIsolation(Isolation):
    """Every port of a switch belongs to one accelerator: jobs with circuits of their own share nothing else."""

    def is_checked(self, fabric: FabricBase) -> bool:
        return True

    def lie(self, cluster: Cluster, place: Lying) -> Hashable:
        fabric, (servers, slots) = cluster.fabric, zip(*place.devices, strict=True)
        wiring, rack = place.wiring, fabric.rack_of(servers[0])
        name = wiring.name if fabric.racks == 1 else _unracked(wiring.name, rack, _Of(wiring))
        return name, numbered(servers), slots


@dataclass(frozen=True)
class _Of:
    wiring: Wires = field(compare=False)


@lru_cache(maxsize=10_000)
def _unracked(name: str, rack: int, of: _Of) -> str:
    """Parts of a name that tell circuits from others, but for the rack on whose switches they are."""
    return sha256(of.wiring.text.replace(f'"r{rack}.', '"r.').encode()).hexdigest()

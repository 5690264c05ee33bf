"""A placement alone on slices: servers are alike, and so are racks, but for the names of their switches."""

from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256

from costmodel.fabrics import FabricBase
from planner.checks.isolation import Isolation, numbered
from planner.fabrics.joined_racks.rule_upper import wrong_above
from planner.model.cluster import Cluster
from planner.model.lying import Lying, Wires


class SlicedIsolation(Isolation):
    """Every port of a switch belongs to one accelerator: jobs with circuits of their own share nothing else."""

    def is_checked(self, fabric: FabricBase) -> bool:
        return True

    def lie(self, cluster: Cluster, place: Lying) -> Hashable:
        fabric, (servers, slots) = cluster.fabric, zip(*place.devices, strict=True)
        wiring, rack = place.wiring, fabric.rack_of(servers[0])
        if place.upper or rack != fabric.rack_of(servers[-1]):
            return wiring.name, place.devices, place.upper
        name = wiring.name if fabric.racks == 1 else _unracked(wiring.name, rack, _Of(wiring))
        return name, numbered(servers), slots

    def wrong_here(self, fabric: FabricBase, place: Lying) -> str | None:
        return wrong_above(fabric, place)


@dataclass(frozen=True)
class _Of:
    wiring: Wires = field(compare=False)


@lru_cache(maxsize=10_000)
def _unracked(name: str, rack: int, of: _Of) -> str:
    """Parts of a name that tell circuits from others, but for the rack on whose switches they are."""
    return sha256(of.wiring.text.replace(f'"r{rack}.', '"r.').encode()).hexdigest()

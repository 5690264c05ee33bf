"""A placement alone in pooled racks: no rule changes where units or ports of a tray, or uplinks of a rail, change
their numbers; nor where servers do, as long as no part of a pool has failed."""

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping

from costmodel.fabrics import FabricBase, Sipam
from planner.checks.isolation import Isolation, numbered
from planner.fabrics.joined_racks.rule_upper import wrong_above
from planner.fabrics.sipam.rule_network import uplinks_reserved
from planner.fabrics.sipam.rule_parts import PoolParts
from planner.model.cluster import Cluster
from planner.model.job import Job
from planner.model.lying import Lying
from planner.model.plan import Assignment


class SipamIsolation(Isolation):
    """Jobs share units, ports and uplinks by name, and on spine rails the number of uplinks that are reserved."""

    def __init__(self) -> None:
        self._last: PoolParts | None = None
        """of the cluster that was asked about last: its names are found once"""

    def is_checked(self, fabric: FabricBase) -> bool:
        return True

    def ground(self, cluster: Cluster) -> Cluster:
        """With what has failed: rails that work are taken in turn."""
        return cluster

    def lie(self, cluster: Cluster, place: Lying) -> Hashable:
        parts = self._parts(cluster)
        servers = numbered([server for server, _ in place.devices])
        fabric = cluster.fabric
        if place.upper or fabric.rack_of(place.servers[0]) != fabric.rack_of(place.servers[-1]):
            return place.devices, place.wiring.name, place.upper
        if parts.failed:
            return servers, place.servers, place.wiring.name
        return servers, tuple(_wires(parts, place))

    def wrong_here(self, fabric: FabricBase, place: Lying) -> str | None:
        return wrong_above(fabric, place)

    def reserved(self, cluster: Cluster, job: Job, assignment: Assignment) -> Mapping[tuple[int, str], int]:
        found = uplinks_reserved(self._parts(cluster), job, assignment)
        return {(server, f"q{rail}"): count for (server, rail), count in found.items()}

    def _parts(self, cluster: Cluster) -> PoolParts:
        if self._last is None or self._last.cluster is not cluster:
            assert isinstance(cluster.fabric, Sipam)
            self._last = PoolParts(cluster, cluster.fabric)
        return self._last


def _wires(parts: PoolParts, place: Lying) -> Iterator[Hashable]:
    """Circuits by rank; of what they take only how much of each tray, and which uplinks are the same."""
    uplinks: dict[str, int] = {}
    ranks = {name: rank for rank, name in enumerate(place.device_names)}
    for held in place.circuits:
        yield held.dimension, held.phase
        for circuit in held.circuits:
            ends = ranks[circuit.source], ranks[circuit.destination]
            ways = tuple(_way(parts, name, place, uplinks) for name in circuit.fibers)
            yield ends, circuit.wavelengths, ways
    units = set[str]()
    for plug in place.memory:
        port = parts.tray_port(plug.port)
        trays = Counter(unit and unit[:2] for unit in map(parts.unit, plug.units))
        is_twice = not units.isdisjoint((plug.port, *plug.units)) or len({*plug.units}) < len(plug.units)
        units.update((plug.port, *plug.units))
        at = port and (place.servers.index(port[0]) if port[0] in place.servers else -1, *port[1:3])
        within = tuple((tray and port and tray == port[:2], count) for tray, count in trays.items())
        yield ranks[plug.device], plug.rail, plug.phase, at, within, is_twice


def _way(parts: PoolParts, name: str, place: Lying, uplinks: dict[str, int]) -> Hashable:
    found = parts.uplink(name)
    if found is None or found[0] not in place.servers:
        return name
    return place.servers.index(found[0]), found[1], uplinks.setdefault(name, len(uplinks))

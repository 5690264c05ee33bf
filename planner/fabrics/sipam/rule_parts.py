"""Parts of pooled racks by name, read from the fields of the fabric and the health of the cluster."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from costmodel.fabrics import Sipam
from planner.checks.names import server_of, tile_of
from planner.model.cluster import Cluster

NUMBER = "(0|[1-9][0-9]{0,8})"
UNIT = re.compile(rf"(.+)\.m{NUMBER}\.u{NUMBER}")
TRAY_PORT = re.compile(rf"(.+)\.m{NUMBER}\.q{NUMBER}#{NUMBER}")
UPLINK = re.compile(rf"(.+)\.q{NUMBER}#{NUMBER}")
SWITCH = re.compile(rf"(?:(.+)\.)?q{NUMBER}")
Unit = tuple[int, int, int]
"""(server, tray, number)"""
TrayPort = tuple[int, int, int, int]
"""(server, tray, rail, number)"""
Uplink = tuple[int, int, int]
"""(server, rail, number)"""


class ServersByDevice(dict[str, int | None]):
    """Server of each accelerator that was asked for."""

    def __init__(self, fabric: Sipam) -> None:
        self._fabric = fabric

    def __missing__(self, name: str) -> int | None:
        tile = tile_of(self._fabric, name)
        self[name] = None if tile is None else tile[0]
        return self[name]


@dataclass(frozen=True)
class PoolParts:
    """All parts of the pools, and those that work."""

    cluster: Cluster
    fabric: Sipam

    @cached_property
    def rails(self) -> int:
        """I/Os of an accelerator."""
        shoreline = self.fabric.shoreline
        room = int(shoreline.perimeter_mm / shoreline.io.width_mm * (1 + 1e-9))
        return room if shoreline.modules is None else shoreline.modules

    @cached_property
    def servers(self) -> "ServersByDevice":
        """Server of an accelerator by its name; None of a name that none has."""
        return ServersByDevice(self.fabric)

    @property
    def local(self) -> int:
        """Rails 0 .. local - 1 stay in a server."""
        return self.rails - self.fabric.spine_rails

    @cached_property
    def units_per_port(self) -> int:
        fabric = self.fabric
        carried = fabric.shoreline.io.bandwidth_bytes_per_s / fabric.memory_unit.stack.bandwidth_bytes_per_s
        return int(carried * (1 + 1e-9)) if fabric.units_per_port is None else fabric.units_per_port

    def unit(self, name: str) -> Unit | None:
        found = self._numbers(UNIT, name)
        if found is None or found[1] >= self.fabric.trays_per_server or found[2] >= self.fabric.units_per_tray:
            return None
        return found[0], found[1], found[2]

    def tray_port(self, name: str) -> TrayPort | None:
        found = self._numbers(TRAY_PORT, name)
        limits = self.fabric.trays_per_server, self.local, self.fabric.tray_ports
        if found is None or any(number >= limit for number, limit in zip(found[1:], limits, strict=True)):
            return None
        return found[0], found[1], found[2], found[3]

    def uplink(self, name: str) -> Uplink | None:
        found = self._numbers(UPLINK, name)
        if found is None or not self.local <= found[1] < self.rails or found[2] >= self.fabric.uplinks:
            return None
        return found[0], found[1], found[2]

    def _numbers(self, pattern: re.Pattern[str], name: str) -> list[int] | None:
        """Server and the numbers behind it."""
        match = pattern.fullmatch(name)
        server = server_of(self.fabric, match[1]) if match else None
        return None if match is None or server is None else [server, *map(int, match.groups()[1:])]

    @cached_property
    def failed(self) -> frozenset[str]:
        """Names of units, ports of trays, uplinks and switches that are down."""
        health = self.cluster.health
        names = health.failed_memory_units, health.failed_tray_ports, health.failed_uplinks, health.failed_switches
        return frozenset(name for some in names for name in some)

    def zone_switch(self, server: int, rail: int) -> str:
        zone = server // self.fabric.servers
        return f"q{rail}" if self.fabric.racks == 1 else f"r{zone}.q{rail}"

    def server_switch(self, server: int, rail: int) -> str:
        return f"{self.fabric.server_name(server)}.q{rail}"

    def ports_of(self, switch: str) -> frozenset[str]:
        """Names of all ports of a switch: accelerators, ports of trays and uplinks of a server, or uplinks of a rack;
        none where there is no such switch."""
        if switch not in self._ports:
            self._ports[switch] = frozenset(self._named_ports(switch))
        return self._ports[switch]

    def _named_ports(self, switch: str) -> Iterator[str]:
        match = SWITCH.fullmatch(switch)
        if match is None or int(match[2]) >= self.rails:
            return
        fabric, rail = self.fabric, int(match[2])
        server = server_of(fabric, match[1]) if match[1] else None
        if server is not None:
            name = fabric.server_name(server)
            yield from (fabric.device_name(server, slot) for slot in range(fabric.devices_per_server))
            yield from self._uplinks(server, rail)
            for tray in range(fabric.trays_per_server if rail < self.local else 0):
                yield from (f"{name}.m{tray}.q{rail}#{number}" for number in range(fabric.tray_ports))
            return
        for first in range(0, fabric.num_servers, fabric.servers):
            if self.zone_switch(first, rail) == switch:
                for each in range(first, first + fabric.servers):
                    yield from self._uplinks(each, rail)

    def _uplinks(self, server: int, rail: int) -> Iterator[str]:
        numbers = range(self.fabric.uplinks if rail >= self.local else 0)
        return (f"{self.fabric.server_name(server)}.q{rail}#{number}" for number in numbers)

    @cached_property
    def _ports(self) -> dict[str, frozenset[str]]:
        """Those asked for."""
        return {}

    def working_local(self, server: int) -> tuple[int, ...]:
        """Local rails whose switch works."""
        return self._working(server)[0]

    def working_spine(self, server: int) -> tuple[int, ...]:
        """Spine rails whose switch in the server works."""
        return self._working(server)[1]

    def carrying(self, server: int, *, leaves: bool) -> frozenset[int]:
        """Rails that work and carry circuits of groups that may leave a server, or of those that stay."""
        key = server, leaves
        if key not in self._carrying:
            local = () if leaves else self.working_local(server)
            self._carrying[key] = frozenset((*local, *self.working_spine(server)))
        return self._carrying[key]

    @cached_property
    def _carrying(self) -> dict[tuple[int, bool], frozenset[int]]:
        """Those asked for."""
        return {}

    def _working(self, server: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        if server not in self._known:
            rails = [rail for rail in range(self.rails) if self.server_switch(server, rail) not in self.failed]
            local = tuple(rail for rail in rails if rail < self.local)
            self._known[server] = local, tuple(rails[len(local) :])
        return self._known[server]

    @cached_property
    def _known(self) -> dict[int, tuple[tuple[int, ...], tuple[int, ...]]]:
        """Local and spine rails that work, of the servers asked for."""
        return {}

    def num_uplinks(self, server: int, rail: int) -> int:
        """Working uplinks of a spine rail, 0 where one of its switches has failed."""
        if {self.server_switch(server, rail), self.zone_switch(server, rail)} & self.failed:
            return 0
        names = (f"{self.fabric.server_name(server)}.q{rail}#{number}" for number in range(self.fabric.uplinks))
        return sum(name not in self.failed for name in names)

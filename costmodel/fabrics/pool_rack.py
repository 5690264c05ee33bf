"""Parts of racks whose accelerators share trays of memory units over rails of optical switches, and their names."""

import re
from collections.abc import Iterator, Mapping
from itertools import product, starmap
from typing import Self

from pydantic import Field, model_validator

from costmodel.fabrics.inventory import INDEX, Parts, PriceClass
from costmodel.fabrics.joined_racks import JoinedRacks
from costmodel.memory_pool.parts import ROUNDING, ShorelineOrName, UnitOrName, too_fast
from costmodel.spec import JoulesPerByte, Latency, SwitchingTime


class PoolRack(JoinedRacks):
    """A server is one rack of accelerators and memory trays around optical circuit switches; racks of such are zones,
    which `upper` may join.

    I/O q of every accelerator belongs to rail q. On a local rail the switch of a server joins its accelerators and the
    ports of its trays. On a spine rail the switch of a server joins its accelerators and its uplinks, and one switch of
    the zone joins the uplinks of all servers there. Local rails come first.
    """

    device_letter = "a"
    has_remote_memory = True
    measures_fragmentation = False
    pools_are_alike = True

    accelerators_per_server: int = Field(ge=1, le=1024)
    """accelerators of a server"""
    shoreline: ShorelineOrName
    """modules around each accelerator: its I/Os"""
    memory_unit: UnitOrName
    """one unit of the pool: a name of the catalog, or all fields inline"""
    trays_per_server: int = Field(ge=1, le=1024)
    """memory trays of a server"""
    units_per_tray: int = Field(ge=1, le=1024)
    """units of a tray"""
    tray_ports: int = Field(default=1, ge=1, le=1024)
    """ports of a tray on each local rail"""
    units_per_port: int | None = Field(default=None, ge=1)
    """most units of a tray that an accelerator reaches through one port; absent: as many as an I/O carries at their
    full bandwidth"""
    spine_rails: int = Field(ge=0, le=128)
    """rails that leave the server; all others are local and reach memory"""
    uplinks: int = Field(default=0, ge=0, le=4096)
    """fibers, one each way, from a server to the switch of its zone, on each spine rail"""
    switch_ports: int = Field(ge=1, le=65536)
    """of every optical switch, each in and out"""
    alpha_s: Latency
    """fixed time of a message over a circuit"""
    reconfiguration_s: SwitchingTime
    """time to set all switches, once before a job starts"""
    energy_j_per_byte: JoulesPerByte
    """of the network"""
    local_memory: bool = False
    """whether accelerators keep memory of their own: units are then its second tier, and a job may do without any"""
    memory_grid: tuple[int, ...] | None = None
    """memory units of an accelerator to list; always listed are those that the SiPAM loop gives a workload, or none
    at all where accelerators have memory of their own"""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self._carried_units < 1:
            raise ValueError(f"memory_{too_fast(self.memory_unit, self.shoreline.io.bandwidth_bytes_per_s, 'an I/O')}")
        if self.units_per_port is not None and self.units_per_port > self._carried_units:
            raise ValueError(
                f"units_per_port: an I/O carries {self._carried_units} units at full bandwidth; give no more"
            )
        if self.local_rails < 1:
            raise ValueError(
                f"spine_rails: of {self.num_io} I/Os, {self.spine_rails} on spine rails leave none for memory"
            )
        for what, key, ports in (
            ("accelerators and tray ports of a server", "tray_ports", self.devices_per_server + self.ports_per_rail),
            ("accelerators and uplinks of a server", "uplinks", self.devices_per_server + self.uplinks),
            ("uplinks of a zone", "uplinks", self.servers * self.uplinks),
        ):
            if ports > self.switch_ports and (self.spine_rails or key != "uplinks"):
                raise ValueError(
                    f"{key}: {ports} {what} meet in one switch, which has {self.switch_ports} ports; give fewer, or "
                    "more switch_ports"
                )
        if wrong := [units for units in self.memory_grid or () if not 1 <= units <= self.most_units]:
            raise ValueError(f"memory_grid: an accelerator has ports for 1 to {self.most_units} units, not {wrong[0]}")
        return self

    @property
    def places_whole_jobs(self) -> bool:
        return True

    @property
    def _carried_units(self) -> int:
        """Units whose full bandwidth one I/O carries."""
        return int(
            self.shoreline.io.bandwidth_bytes_per_s / self.memory_unit.stack.bandwidth_bytes_per_s * (1 + ROUNDING)
        )

    @property
    def num_io(self) -> int:
        """I/Os of an accelerator, one on each rail."""
        return self.shoreline.num_io

    @property
    def local_rails(self) -> int:
        return self.num_io - self.spine_rails

    @property
    def port_units(self) -> int:
        """Most units that an accelerator reaches through one port of a tray."""
        return self._carried_units if self.units_per_port is None else self.units_per_port

    @property
    def units_per_server(self) -> int:
        return self.trays_per_server * self.units_per_tray

    @property
    def ports_per_rail(self) -> int:
        """Ports of the trays of a server on each local rail."""
        return self.trays_per_server * self.tray_ports

    @property
    def most_units(self) -> int:
        """Memory units that one accelerator can have: by its ports, and by what a server holds."""
        return min(self.local_rails * self.port_units, self.units_per_server)

    @property
    def num_optical_switches(self) -> int:
        """Of each rail in each server, and of each spine rail in each zone."""
        return self.num_io * self.num_servers + self.spine_rails * self.racks

    @property
    def devices_per_server(self) -> int:
        return self.accelerators_per_server

    @property
    def stage_s(self) -> float:
        return max(self.reconfiguration_s + self.alpha_s, super().stage_s)

    @property
    def has_circuits(self) -> bool:
        return True

    def _port_prices(self) -> Mapping[PriceClass, int]:
        return {"optical_port": self.num_devices * self.num_io}

    def _other_parts(self, devices: Parts) -> Iterator[Parts]:
        ports = self.num_servers * self.ports_per_rail * self.local_rails
        yield Parts("tray port", ports, self._tray_port_names, self.parse_tray_port, {"optical_port": ports})
        uplinks = self.num_servers * self.spine_rails * self.uplinks
        yield Parts("uplink", uplinks, self._uplink_names, self.parse_uplink, {"optical_port": uplinks})
        units = self.num_servers * self.units_per_server
        yield Parts("memory unit", units, self._unit_names, self.parse_unit, {"memory_unit": units})

    def _tray_port_names(self) -> Iterator[str]:
        servers, trays = range(self.num_servers), range(self.trays_per_server)
        return starmap(self.tray_port_name, product(servers, trays, range(self.local_rails), range(self.tray_ports)))

    def _uplink_names(self) -> Iterator[str]:
        spine = range(self.local_rails, self.num_io)
        return starmap(self.uplink_name, product(range(self.num_servers), spine, range(self.uplinks)))

    def _unit_names(self) -> Iterator[str]:
        servers, trays = range(self.num_servers), range(self.trays_per_server)
        return (f"{self.tray_name(*tray)}.u{i}" for tray in product(servers, trays) for i in range(self.units_per_tray))

    def memory_io(self, units: int) -> int:
        """I/Os of an accelerator that carry its memory units."""
        return -(-units // self.port_units)

    def tray_name(self, server: int, tray: int) -> str:
        return f"{self.server_name(server)}.m{tray}"

    def uplink_name(self, server: int, rail: int, index: int) -> str:
        return f"{self.server_name(server)}.q{rail}#{index}"

    def switch_name(self, rail: int, number: int) -> str:
        """Switch of a rail in a server, by its number, or in a zone, numbered after all servers."""
        if number < self.num_servers:
            return f"{self.server_name(number)}.q{rail}"
        return f"q{rail}" if self.racks == 1 else f"r{number - self.num_servers}.q{rail}"

    @property
    def switch_names(self) -> tuple[str, ...]:
        zones = range(self.num_servers, self.num_servers + self.racks)
        rails = [range(self.num_io)] * self.num_servers + [range(self.local_rails, self.num_io) for _ in zones]
        return tuple(self.switch_name(rail, number) for number, each in enumerate(rails) for rail in each)

    def parse_switch(self, name: str) -> tuple[int, int]:
        head, _, tail = name.rpartition(".")
        match = re.fullmatch(f"q({INDEX})", tail)
        if match and int(match[1]) < self.num_io:
            rail = int(match[1])
            if re.search(f"(^|\\.)s{INDEX}$", head):
                return rail, self.parse_server(head)
            zone = re.fullmatch(f"r({INDEX})", head) if self.racks > 1 else re.fullmatch("()", head)
            if zone and int(zone[1] or 0) < self.racks and rail >= self.local_rails:
                return rail, self.num_servers + int(zone[1] or 0)
        zone_switch = self.switch_name(self.num_io - 1, self.num_servers)
        raise ValueError(
            f"no switch '{name}'; switches are {self.switch_name(0, 0)} to "
            f"{self.switch_name(self.num_io - 1, self.num_servers - 1)}, and those of zones such as {zone_switch}"
        )

    def parse_unit(self, name: str) -> tuple[int, int, int]:
        """Server, tray and number of a memory unit; ValueError names the right form."""
        match = re.fullmatch(rf"(.+)\.m({INDEX})\.u({INDEX})", name)
        if match and int(match[2]) < self.trays_per_server and int(match[3]) < self.units_per_tray:
            return self.parse_server(match[1]), int(match[2]), int(match[3])
        last = f"{self.tray_name(self.num_servers - 1, self.trays_per_server - 1)}.u{self.units_per_tray - 1}"
        raise ValueError(f"no memory unit '{name}'; units are {self.tray_name(0, 0)}.u0 to {last}")

    def tray_port_name(self, server: int, tray: int, rail: int, index: int) -> str:
        return f"{self.tray_name(server, tray)}.q{rail}#{index}"

    def parse_tray_port(self, name: str) -> tuple[int, int, int, int]:
        """Server, tray, rail and number there of a tray's port; ValueError names the right form."""
        match = re.fullmatch(rf"(.+)\.m({INDEX})\.q({INDEX})#({INDEX})", name)
        if match:
            tray, rail, index = (int(number) for number in match.groups()[1:])
            if tray < self.trays_per_server and rail < self.local_rails and index < self.tray_ports:
                return self.parse_server(match[1]), tray, rail, index
        last = self.tray_port_name(
            self.num_servers - 1, self.trays_per_server - 1, self.local_rails - 1, self.tray_ports - 1
        )
        raise ValueError(f"no port '{name}'; ports of trays are {self.tray_port_name(0, 0, 0, 0)} to {last}")

    def parse_uplink(self, name: str) -> tuple[int, int, int]:
        """Server, rail and number of an uplink; ValueError names the right form."""
        match = re.fullmatch(rf"(.+)\.q({INDEX})#({INDEX})", name)
        if match and self.local_rails <= int(match[2]) < self.num_io and int(match[3]) < self.uplinks:
            return self.parse_server(match[1]), int(match[2]), int(match[3])
        raise ValueError(f"no uplink '{name}'; uplinks have names such as {self.uplink_name(0, self.local_rails, 0)}")

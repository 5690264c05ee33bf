"""What leaving jobs would free of each rack with pooled memory: devices, units and ports, and the parts that fit."""

from collections.abc import Sequence

from planner.fabrics.job_class import JobClass
from planner.fabrics.look_ahead import LookAhead
from planner.fabrics.placement import Placement
from planner.fabrics.sipam.server_bits import ServerBits
from planner.fabrics.sipam.server_rooms import AskedPart, ServerCounts, parts_on

MOST_KNOWN = 8_192
"""placements of which is remembered what they hold"""


Held = tuple[int, int, int, int]
"""what a placement holds of a rack: its number, devices, units, ports"""


class HeldByRack:
    """What placements hold of racks, whether or not it works; counted once for each placement."""

    def __init__(self, bits: ServerBits, servers: int) -> None:
        """`servers` of each rack."""
        self.bits, self.servers = bits, servers
        self._known: dict[int, tuple[tuple[Held, ...], Placement]] = {}
        """by number of the placement, which is kept since its number is the key"""

    def of(self, placement: Placement) -> tuple[Held, ...]:
        """By rack."""
        found = self._known.get(id(placement))
        if found is None:
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            found = self._known[id(placement)] = self._counted(placement), placement
        return found[0]

    def _counted(self, placement: Placement) -> tuple[Held, ...]:
        by_rack: dict[int, list[int]] = {}
        for server, slots in placement.by_server.items():
            by_rack.setdefault(server // self.servers, [0, 0, 0])[0] += slots.bit_count()
        for server, mask in () if placement.owned is None else placement.owned.masks:
            amounts = by_rack.setdefault(server // self.servers, [0, 0, 0])
            amounts[1] += (mask & self.bits.units).bit_count()
            amounts[2] += (mask & self.bits.ports).bit_count()
        return tuple((rack, devices, units, ports) for rack, (devices, units, ports) in by_rack.items())


class PoolLookAhead(LookAhead):
    """Parts of a class of jobs that would fit in each rack. Servers of a rack are counted where the rack as a whole
    has enough."""

    def __init__(
        self,
        kind: JobClass,
        num_free: int,
        held: HeldByRack,
        counts: ServerCounts,
        needs: Sequence[tuple[int, AskedPart]],
    ) -> None:
        """`counts` are a copy to count on; `needs`: numbers of parts, one of which must fit in a rack; now none
        does."""
        super().__init__(kind, num_free)
        self._held, self._counts, self._needs = held, counts, needs
        self._is_open = False
        size = held.servers
        firsts = range(0, len(counts.every), size)
        self._by_rack = [[sum(each[first : first + size]) for first in firsts] for each in counts[1:]]
        """free devices, units and ports"""
        self._asked = [(number * part.devices, number * part.units, number * part.io) for number, part in needs]
        """of a rack, by need"""
        self._later: list[list[Placement]] = [[] for _ in firsts]
        """by rack, what left it and is not counted by server"""

    def _free(self, placement: Placement) -> None:
        devices, units, ports = self._by_rack
        for rack, more_devices, more_units, more_ports in self._held.of(placement):
            self._later[rack].append(placement)
            devices[rack] = now_devices = devices[rack] + more_devices
            units[rack] = now_units = units[rack] + more_units
            ports[rack] = now_ports = ports[rack] + more_ports
            for asked_devices, asked_units, asked_ports in self._asked:
                if now_devices >= asked_devices and now_units >= asked_units and now_ports >= asked_ports:
                    self._is_open = self._is_open or self._has_room(rack)
                    break

    def _has_room(self, rack: int) -> bool:
        """True if the parts of one of the needs fit on the servers of a rack."""
        for placement in self._later[rack]:
            self._free_on_servers(placement, rack)
        self._later[rack].clear()
        first = rack * self._held.servers
        servers = range(first, first + self._held.servers)
        return any(sum(parts_on(self._counts, part, servers)) >= number for number, part in self._needs)

    def _free_on_servers(self, placement: Placement, rack: int) -> None:
        """Count what a placement holds in a rack by server."""
        lit, every, units, ports = self._counts
        servers, bits = self._held.servers, self._held.bits
        for server, slots in placement.by_server.items():
            if server // servers == rack:
                lit[server] += slots.bit_count()
                every[server] += slots.bit_count()
        for server, mask in () if placement.owned is None else placement.owned.masks:
            if server // servers == rack:
                units[server] += (mask & bits.units).bit_count()
                ports[server] += (mask & bits.ports).bit_count()

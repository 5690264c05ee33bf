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


class _LeftRack:
    """What is free in a rack as jobs leave it."""

    def __init__(self, counts: ServerCounts) -> None:
        """`counts` of its servers, a copy."""
        self.counts = counts
        self.free = [*map(sum, counts[1:])]
        """devices, units and ports"""
        self.later: list[Placement] = []
        """what left it and is not counted by server"""


class PoolLookAhead(LookAhead):
    """Parts of a class of jobs that would fit in each rack that somebody leaves. Servers of a rack are counted where
    the rack as a whole has enough."""

    def __init__(
        self,
        kind: JobClass,
        num_free: int,
        held: HeldByRack,
        counts: ServerCounts,
        needs: Sequence[tuple[int, AskedPart]],
    ) -> None:
        """`counts` stay as they are until a rack has room; `needs`: numbers of parts, one of which must fit in a rack;
        now none does."""
        super().__init__(kind, num_free)
        self._held, self._counts, self._needs = held, counts, needs
        self._asked = [(number * part.devices, number * part.units, number * part.io) for number, part in needs]
        """of a rack, by need"""
        self._racks: dict[int, _LeftRack] = {}
        self._is_open = False

    def _free(self, placement: Placement) -> None:
        for rack, more_devices, more_units, more_ports in self._held.of(placement):
            known = self._racks.get(rack) or self._seen(rack)
            known.later.append(placement)
            devices, units, ports = known.free
            known.free = [devices + more_devices, units + more_units, ports + more_ports]
            devices, units, ports = known.free
            for asked_devices, asked_units, asked_ports in self._asked:
                if devices >= asked_devices and units >= asked_units and ports >= asked_ports:
                    self._is_open = self._is_open or self._has_room(rack, known)
                    break

    def _seen(self, rack: int) -> _LeftRack:
        """A rack that is left for the first time."""
        first, last = rack * self._held.servers, (rack + 1) * self._held.servers
        self._racks[rack] = _LeftRack(ServerCounts(*[each[first:last] for each in self._counts]))
        return self._racks[rack]

    def _has_room(self, number: int, rack: _LeftRack) -> bool:
        """True if the parts of one of the needs fit on the servers of a rack."""
        for placement in rack.later:
            self._free_on_servers(placement, number, rack.counts)
        rack.later.clear()
        servers = range(self._held.servers)
        return any(sum(parts_on(rack.counts, part, servers)) >= parts for parts, part in self._needs)

    def _free_on_servers(self, placement: Placement, rack: int, counts: ServerCounts) -> None:
        """Count what a placement holds in a rack by server."""
        lit, every, units, ports = counts
        size, bits = self._held.servers, self._held.bits
        first, last = rack * size, (rack + 1) * size
        for server, slots in placement.by_server.items():
            if first <= server < last:
                lit[server - first] += slots.bit_count()
                every[server - first] += slots.bit_count()
        for server, mask in () if placement.owned is None else placement.owned.masks:
            if first <= server < last:
                units[server - first] += (mask & bits.units).bit_count()
                ports[server - first] += (mask & bits.ports).bit_count()

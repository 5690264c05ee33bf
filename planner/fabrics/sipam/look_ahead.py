"""What leaving jobs would free of each server with pooled memory: devices, units and ports, and the parts that fit."""

from collections.abc import Iterable, Sequence

from planner.fabrics.job_class import JobClass
from planner.fabrics.look_ahead import LookAhead
from planner.fabrics.placement import Placement
from planner.fabrics.sipam.server_bits import ServerBits
from planner.fabrics.sipam.server_rooms import AskedPart, ServerRooms


class PoolLookAhead(LookAhead):
    """Parts of a class of jobs that would fit in each rack."""

    def __init__(
        self,
        kind: JobClass,
        num_free: int,
        bits: ServerBits,
        rooms: ServerRooms,
        needs: Sequence[tuple[int, AskedPart]],
    ) -> None:
        """`rooms` are counted on, and left as they are; `needs`: numbers of parts, one of which must fit in a rack;
        now none does."""
        super().__init__(kind, num_free)
        self._bits, self._needs = bits, needs
        self._counts = rooms.counts
        self._rooms = rooms.over(self._counts, [part for _, part in needs])
        self._is_open = False

    def leave(self, placements: Iterable[Placement]) -> bool:
        placements = [*placements]
        is_enough = super().leave(placements)
        if self._is_open:
            return is_enough
        changed = set[int]()
        for placement in placements:
            self._free(placement, changed)
        self._rooms.changed(changed)
        self._is_open = is_enough and self._rooms.fit_any(self._needs)
        return self._is_open

    def _free(self, placement: Placement, changed: set[int]) -> None:
        """Count what a placement holds as free, whether or not it works; its servers are `changed`."""
        lit, every, units, ports = self._counts
        for server, _ in placement.held:
            lit[server] += 1
            every[server] += 1
            changed.add(server)
        if placement.owned is None:
            return
        of_units, of_ports = self._bits.units, self._bits.ports
        for server, mask in placement.owned.masks:
            units[server] += (mask & of_units).bit_count()
            ports[server] += (mask & of_ports).bit_count()
            changed.add(server)

"""Electrical servers: whole ones, and the remainder packed onto one more."""

from planner.slices.allocator import MaskAllocator, all_ones, lowest


class WholeServers(MaskAllocator):
    """Entirely free servers, the first ones, and for the remainder the fullest server that takes it whole."""

    def __init__(self, servers: int, per_server: int, taken: int = 0) -> None:
        super().__init__(servers * per_server, taken)
        self.per_server = per_server

    def fit(self, size: int) -> int:
        count, remainder = divmod(size, self.per_server)
        rooms = rooms_of(self.free, self.capacity, self.per_server)
        whole = [server for server, room in enumerate(rooms) if room == self.per_server][:count]
        if len(whole) < count:
            return 0
        devices = sum(all_ones(self.per_server) << server * self.per_server for server in whole)
        if not remainder:
            return devices
        for server in whole:
            rooms[server] = 0
        room = min((room for room in rooms if room >= remainder), default=0)
        return devices | part_of(self.free, self.per_server, rooms.index(room), remainder) if room else 0


def rooms_of(free: int, capacity: int, per_server: int) -> list[int]:
    """Free accelerators of each server."""
    full = all_ones(per_server)
    return [(free >> first & full).bit_count() for first in range(0, capacity, per_server)]


def part_of(free: int, per_server: int, server: int, count: int) -> int:
    """The first so many free accelerators of a server, which has as many."""
    first = server * per_server
    return lowest(free >> first & all_ones(per_server), count) << first

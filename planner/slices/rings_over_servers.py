"""Lumorph with ring collectives: any tiles, joined by one ring that needs a fiber from server to server."""

from collections.abc import Iterator, Sequence

from planner.slices.allocator import MaskAllocator, Slice, members
from planner.slices.whole_servers import part_of, rooms_of

MAX_STEPS = 1000
"""servers that one search for a ring visits before it gives up; no search of the study comes near"""


class RingsOverServers(MaskAllocator):
    """Best fit of any tiles, as long as the fibers of each ordered pair of servers can carry the rings.

    The ring of a job enters and leaves each of its servers once and holds a fiber of its own for each step between
    servers (paper 003, section 3, with a fixed number of fibers for each ordered pair).
    """

    def __init__(self, servers: int, per_server: int, fibers: int, taken: int = 0) -> None:
        super().__init__(servers * per_server, taken)
        self.per_server = per_server
        self.fibers_left = [[0 if a == b else fibers for b in range(servers)] for a in range(servers)]
        self._onward = [sum(1 << b for b in range(servers) if left[b]) for left in self.fibers_left]

    def allocate(self, size: int) -> Slice | None:
        if size > self.free.bit_count():
            return None
        rooms = rooms_of(self.free, self.capacity, self.per_server)
        enough = min((room for room in rooms if room >= size), default=0)
        if enough:
            return self._take([(rooms.index(enough), size)], ())
        for parts in _spreads(rooms, size):
            fibers = self._ring([server for server, _ in parts])
            if fibers is not None:
                return self._take(parts, fibers)
        return None

    def release(self, slice_: Slice) -> None:
        super().release(slice_)
        for a, b in slice_.fibers:
            self.fibers_left[a][b] += 1
            self._onward[a] |= 1 << b

    def _take(self, parts: Sequence[tuple[int, int]], fibers: tuple[tuple[int, int], ...]) -> Slice:
        devices = sum(part_of(self.free, self.per_server, server, count) for server, count in parts)
        self.free ^= devices
        for a, b in fibers:
            self.fibers_left[a][b] -= 1
            if not self.fibers_left[a][b]:
                self._onward[a] &= ~(1 << b)
        return Slice(devices, fibers)

    def _ring(self, servers: Sequence[int]) -> tuple[tuple[int, int], ...] | None:
        """Fibers of a ring through all these servers, by depth-first search; None where none is found."""
        first, steps = servers[0], 0
        path = [first]
        choices = [sum(1 << server for server in servers[1:])]
        left = choices[0]
        choices[0] &= self._onward[first]
        while path and steps < MAX_STEPS:
            steps += 1
            if not left and self._onward[path[-1]] >> first & 1:
                return tuple(zip(path, [*path[1:], first], strict=True))
            if not choices[-1]:
                left |= 1 << path.pop()
                choices.pop()
                continue
            bit = choices[-1] & -choices[-1]
            choices[-1] ^= bit
            left ^= bit
            path.append(next(members(bit)))
            choices.append(left & self._onward[path[-1]])
        return None


def _spreads(rooms: Sequence[int], size: int) -> Iterator[list[tuple[int, int]]]:
    """Ways to spread a job over few servers: the roomiest ones, then the tightest that takes the rest."""
    order = sorted((server for server, room in enumerate(rooms) if room), key=lambda server: -rooms[server])
    for first in range(len(order)):
        parts: list[tuple[int, int]] = []
        missing = size
        for place in range(first, len(order)):
            if rooms[order[place]] >= missing:
                last = min((s for s in order[place:] if rooms[s] >= missing), key=lambda server: rooms[server])
                yield [*parts, (last, missing)]
                break
            parts.append((order[place], rooms[order[place]]))
            missing -= rooms[order[place]]
        else:
            return

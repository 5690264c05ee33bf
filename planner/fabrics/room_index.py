"""Free devices by server where servers are many: who has the least room that is enough is found without a look at all.

Servers stand in heaps by their number of free devices. An entry is stale once its server has another number; stale
ones are dropped when they come up.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush
from itertools import islice
from typing import overload

MANY_SERVERS = 256
"""from which on an index pays"""
Blocks = list[tuple[int, int]]


class ServersByCount:
    """Servers by number of free devices; told of each server whose number changes."""

    def __init__(self, counts: Sequence[int], most: int) -> None:
        """`counts` is read whenever an entry comes up, `most` the highest number."""
        self.counts = counts
        self.first_with_any = 0
        """no server before it has a free device"""
        self._heaps: list[list[int]] = [[] for _ in range(most + 1)]
        for server, count in enumerate(counts):
            self._heaps[count].append(server)
        for heap in self._heaps:
            heapify(heap)
        self._at_least: dict[int, list[int]] = {}

    def __len__(self) -> int:
        return len(self._heaps)

    def changed(self, server: int) -> None:
        """The server has another number of free devices."""
        heappush(self._heaps[self.counts[server]], server)
        self.first_with_any = min(self.first_with_any, server)
        for count, servers in self._at_least.items():
            place = bisect_left(servers, server)
            is_listed = place < len(servers) and servers[place] == server
            if is_listed and self.counts[server] < count:
                del servers[place]
            elif not is_listed and self.counts[server] >= count:
                servers.insert(place, server)

    def at_least(self, count: int) -> Sequence[int]:
        """Servers with so many free devices, ascending; to look at until one changes."""
        if count not in self._at_least:
            self._at_least[count] = [server for server, number in enumerate(self.counts) if number >= count]
        return self._at_least[count]

    def first(self, count: int) -> int | None:
        """The first server with so many free devices."""
        heap = self._heaps[count]
        while heap and self.counts[heap[0]] != count:
            heappop(heap)
        return heap[0] if heap else None

    def pop(self, count: int) -> int | None:
        """The same, taken out until it is put back by `changed`."""
        found = self.first(count)
        if found is not None:
            heap = self._heaps[count]
            while heap and heap[0] == found:
                heappop(heap)
        return found


class Room(Sequence[int]):
    """Blocks of `part` devices that fit on each server, with the servers by room."""

    def __init__(self, servers: ServersByCount, part: int) -> None:
        self._servers, self._part = servers, part

    def __len__(self) -> int:
        return len(self._servers.counts)

    @overload
    def __getitem__(self, server: int) -> int: ...
    @overload
    def __getitem__(self, server: slice) -> Sequence[int]: ...
    def __getitem__(self, server: int | slice) -> int | Sequence[int]:
        if isinstance(server, slice):
            return [count // self._part for count in self._servers.counts[server]]
        return self._servers.counts[server] // self._part

    def tightest(self, blocks: int, most: int, few_starts: int) -> Iterator[Blocks]:
        """As `strategies.tightest` over all servers, of which so many have room that few of them are looked at."""
        if blocks <= most and (server := self._least(blocks)) is not None:
            yield [(server, blocks)]
            return
        for first in range(few_starts):
            spread = self._spread(blocks, most, first)
            if spread is not None:
                yield sorted(spread)

    def in_order(self, blocks: int, most: int) -> Iterator[Blocks]:
        """As `strategies.in_order` over all servers, from the first that has a free device."""
        counts, part = self._servers.counts, self._part
        spread: Blocks = []
        first = self._servers.first_with_any
        while first < len(counts) and not counts[first]:
            first += 1
        self._servers.first_with_any = first
        for server in range(first, len(counts)):
            count = min(counts[server] // part, most)
            if count >= blocks:
                yield [*spread, (server, blocks)]
                return
            if count:
                spread.append((server, count))
                blocks -= count

    def aligned(self, blocks: int, most: int) -> Iterator[Blocks]:
        """As `strategies.aligned` over all servers, of which those with all they may give are known."""
        counts, whole = self._servers.counts, most * self._part
        number, rest = divmod(blocks, most)
        able = self._servers.at_least(whole) if number else ()
        if len(able) < number:
            return
        spread = [(server, most) for server in able[:number]]
        if rest:
            last = self._least(rest)
            if last is not None and number and counts[last] >= whole:
                last = min(able[number:], key=lambda server: (self[server], server), default=None)
            if last is None:
                return
            spread.append((last, rest))
        yield sorted(spread)

    def _least(self, blocks: int) -> int | None:
        """The first server of those with the least room for so many blocks."""
        for room in range(blocks, self._most + 1):
            found = [server for count in self._counts(room) if (server := self._servers.first(count)) is not None]
            if found:
                return min(found)
        return None

    def _spread(self, blocks: int, most: int, first: int) -> Blocks | None:
        """Servers with the most room of use, but for the first few, and the tightest one for what is left."""
        spread: Blocks = []
        popped: list[int] = []
        missing = blocks
        try:
            for server in islice(self._popping(most, popped), first, None):
                count = min(self[server], most)
                if count >= missing:
                    self._put_back(popped.pop())
                    last = self._least(missing)
                    return None if last is None else [*spread, (last, missing)]
                spread.append((server, count))
                missing -= count
            return None
        finally:
            for server in popped:
                self._put_back(server)

    def _popping(self, most: int, popped: list[int]) -> Iterator[int]:
        """Servers taken out of their heaps, those first that may give most, of these the tightest."""
        for room in (*range(most, self._most + 1), *range(min(most, self._most + 1) - 1, 0, -1)):
            counts = self._counts(room)
            while found := [(server, c) for c in counts if (server := self._servers.first(c)) is not None]:
                server, count = min(found)
                self._servers.pop(count)
                popped.append(server)
                yield server

    def _put_back(self, server: int) -> None:
        self._servers.changed(server)

    @property
    def _most(self) -> int:
        """Blocks that fit on an empty server."""
        return (len(self._servers) - 1) // self._part

    def _counts(self, room: int) -> range:
        """Numbers of free devices that are room for so many blocks."""
        return range(room * self._part, min((room + 1) * self._part, len(self._servers)))

"""Light between servers in numbers that are kept, so that equal states are known by one number."""

from itertools import count
from typing import NamedTuple

from planner.light import Light
from planner.replay.strategies import Blocks
from planner.ways import Waveguide

MOST_REMEMBERED = 200_000
"""spreads"""


class Spread(NamedTuple):
    """Blocks of a job on servers, and the light between these as it is now."""

    servers: tuple[int, ...]
    counts: tuple[int, ...]
    """blocks by server"""
    number: int
    """the same for as many blocks with the same wavelengths free on fibers between their servers; -1 in one server"""
    room: tuple[tuple[int, ...], ...]
    """free wavelengths from server to server"""
    ends: tuple[tuple[int, int], ...]
    """(blocks, wavelengths free to all others, or from these, whichever are fewer) by server"""


class Fibers:
    """What is taken on the fibers of each ordered pair of servers, where no circuit crosses a third server."""

    def __init__(self, light: Light) -> None:
        servers = range(light.fabric.num_servers)
        self._stride = light.fabric.wavelengths_per_tile + 1
        self._taken = [[self._missing(light, a, b) for b in servers] for a in servers]
        """masks of wavelengths, fiber after fiber; the bit after those of a fiber is set where it has failed, or is
        beyond the last one"""
        self._open = [[self._healthy(light, a, b) for b in servers] for a in servers]
        self._room = [[mask.bit_count() for mask in row] for row in self._open]
        self._numbers: dict[tuple[object, ...], int] = {}
        self._next = count()

    def _missing(self, light: Light, source: int, destination: int) -> int:
        healthy, number = light.ways.fibers(source, destination), light.fabric.num_fibers(source, destination)
        return sum(1 << ((i + 1) * self._stride - 1) for i in range(number + 1) if i not in healthy)

    def _healthy(self, light: Light, source: int, destination: int) -> int:
        """Mask of the wavelengths that all healthy fibers carry."""
        if source == destination or not light.ways.joins(source, destination):
            return 0
        return sum(light.carried << (i * self._stride) for i in light.ways.fibers(source, destination))

    def mark(self, guide: Waveguide, mask: int, *, is_taken: bool) -> None:
        """Wavelengths of a fiber are taken or given back."""
        source, destination, index = guide  # type: ignore[misc]
        shifted, taken = mask << (index * self._stride), self._taken[source]
        taken[destination] = taken[destination] | shifted if is_taken else taken[destination] & ~shifted
        self._room[source][destination] = (self._open[source][destination] & ~taken[destination]).bit_count()

    def spread(self, blocks: Blocks) -> Spread:
        """Blocks on servers as the light between these is now."""
        servers, counts = zip(*blocks, strict=True)
        if len(servers) == 1:
            return Spread(servers, counts, -1, ((0,),), ((counts[0], 0),))
        key = counts, *(self._taken[a][b] for a in servers for b in servers if a != b)
        room = tuple(tuple(self._room[a][b] for b in servers) for a in servers)
        least = [min(sum(out), sum(back)) for out, back in zip(room, zip(*room, strict=True), strict=True)]
        return Spread(servers, counts, self._number(key), room, tuple(zip(counts, least, strict=True)))

    def _number(self, key: tuple[object, ...]) -> int:
        number = self._numbers.get(key)
        if number is None:
            if len(self._numbers) > MOST_REMEMBERED:
                self._numbers.clear()
            number = self._numbers[key] = next(self._next)
        return number

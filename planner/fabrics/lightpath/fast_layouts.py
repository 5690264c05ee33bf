"""Orders of the blocks of one shape on servers, each with the wavelengths that it needs from server to server."""

from collections.abc import Iterator, Sequence
from functools import lru_cache, reduce
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from planner.fabrics.circuits_between import Between, busiest
from planner.fabrics.demand import Demand
from planner.fabrics.lightpath.layouts import num_stages, orders

Ints32 = NDArray[np.int32]
Order = tuple[int, ...]
"""place of each block among the servers that the job uses"""
MOST_DIVISIONS = 256
"""ways to divide the blocks among servers that are remembered"""


class Layouts:
    """All orders to try of the blocks of one shape."""

    def __init__(self, stages: int, between: tuple[Between, ...]) -> None:
        """`between`: wavelengths from block to block, as `Demand.between_blocks`."""
        self._stages = stages
        lit = [each.in_units for each in between if each.packed]
        self._each = [(unit, _needed(stages, light)) for unit, light in lit]
        self._needed: dict[tuple[int, ...], Ints32] = {}

    def within(self, counts: tuple[int, ...], room: Sequence[Sequence[int]]) -> Iterator[Order]:
        """Orders of so many blocks by server, of which each pair of servers has the free wavelengths they need."""
        if len(counts) == 1:
            yield (0,) * counts[0]
            return
        needed = self._needed.get(counts)
        if needed is None:
            if len(self._needed) >= MOST_DIVISIONS:
                self._needed.clear()
            needed = self._needed[counts] = self._most(counts)
        fits = (needed <= np.array(room, dtype=np.int32).ravel()).all(axis=1)
        if fits.any():
            orders = _orders(self._stages, counts)
            for number in np.flatnonzero(fits).tolist():
                yield tuple(orders[number].tolist())

    def _most(self, counts: tuple[int, ...]) -> Ints32:
        """Most wavelengths over all configurations, as `NeededLight.of`."""
        each = [light.of(counts) * np.int32(unit) for unit, light in self._each]
        none = np.zeros((len(_orders(self._stages, counts)), len(counts) ** 2), dtype=np.int32)
        return reduce(np.maximum, each) if each else none


class NeededLight:
    """Wavelengths from server to server of all orders of blocks joined by the same circuits, found once for each way to
    divide the blocks among servers."""

    def __init__(self, stages: int, light: Between) -> None:
        self._stages, self._light = stages, light
        self._found: dict[tuple[int, ...], Ints32] = {}

    def of(self, counts: tuple[int, ...]) -> Ints32:
        """Wavelengths by order and by pair of servers, of so many blocks by server, shape (orders, servers ** 2)."""
        found = self._found.get(counts)
        if found is None:
            if len(self._found) >= MOST_DIVISIONS:
                self._found.clear()
            needed = busiest([self._light], _orders(self._stages, counts), len(counts))
            found = self._found[counts] = needed.astype(np.int32).reshape(len(needed), -1)
        return found


def layouts_of(shape: Demand) -> Layouts:
    """Orders of a shape; shapes whose circuits between blocks are alike but for their widths share what they need."""
    return Layouts(num_stages(shape), shape.between_blocks)


_known: WeakValueDictionary[tuple[int, Between], NeededLight] = WeakValueDictionary()
"""as long as layouts keep them"""


def _needed(stages: int, light: Between) -> NeededLight:
    key = stages, light
    return _known.get(key) or _known.setdefault(key, NeededLight(stages, light))


@lru_cache(maxsize=1024)
def _orders(stages: int, counts: tuple[int, ...]) -> NDArray[np.int16]:
    """Orders in which the planner tries servers: the server of each block, shape (orders, blocks)."""
    return np.array(list(orders(list(enumerate(counts)), stages)), dtype=np.int16)

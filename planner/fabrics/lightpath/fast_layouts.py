"""Orders of the blocks of one shape on servers, each with the wavelengths that it needs from server to server."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from planner.fabrics.circuits_between import Between, busiest
from planner.fabrics.demand import Demand
from planner.fabrics.lightpath.layouts import num_stages, orders

Ints = NDArray[np.int64]
Order = tuple[int, ...]
"""place of each block among the servers that the job uses"""
MOST_DIVISIONS = 256
"""ways to divide the blocks among servers that are remembered"""


class Layouts:
    """All orders to try, found once for each way to divide the blocks among servers."""

    def __init__(self, stages: int, between: tuple[Between, ...]) -> None:
        """`between`: wavelengths from block to block, as `Shape.between_blocks`."""
        self._stages, self._between = stages, between
        self._needed: dict[tuple[int, ...], Ints] = {}

    def within(self, counts: tuple[int, ...], room: Sequence[Sequence[int]]) -> Iterator[Order]:
        """Orders of so many blocks by server, of which each pair of servers has the free wavelengths they need."""
        if len(counts) == 1:
            yield (0,) * counts[0]
            return
        found = _orders(self._stages, counts)
        needed = self._needed.get(counts)
        if needed is None:
            if len(self._needed) >= MOST_DIVISIONS:
                self._needed.clear()
            needed = self._needed[counts] = busiest(self._between, found, len(counts)).astype(np.int32)
        for number in np.flatnonzero((needed <= np.array(room)).all(axis=(1, 2))).tolist():
            yield tuple(found[number].tolist())


def layouts_of(shape: Demand) -> Layouts:
    """Orders of a shape; shapes whose circuits between blocks are alike share them."""
    key = num_stages(shape), shape.between_blocks
    return _known.get(key) or _known.setdefault(key, Layouts(*key))


_known: WeakValueDictionary[tuple[int, tuple[Between, ...]], Layouts] = WeakValueDictionary()


@lru_cache(maxsize=1024)
def _orders(stages: int, counts: tuple[int, ...]) -> NDArray[np.int16]:
    """Orders in which the planner tries servers: the server of each block, shape (orders, blocks)."""
    return np.array(list(orders(list(enumerate(counts)), stages)), dtype=np.int16)

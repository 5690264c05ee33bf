"""Light from block to block of a job, kept by pairs: of all pairs of many blocks few have circuits."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costmodel.fabrics import Circuits

Ints = NDArray[np.int64]
MAX_TABLE_BLOCKS = 32
"""circuits between so few blocks are summed in a table of all pairs"""
MOST_SUMMED = 100_000
"""circuits of several configurations that are summed at once, over all ways to lie"""

MOST_PLACES = 4_000
"""ways to lie of which it is remembered what light they need"""


@dataclass(frozen=True)
class Between:
    """Wavelengths from block to block in one configuration."""

    num_blocks: int
    packed: bytes
    """(source, destination, wavelengths) of pairs of different blocks with circuits, int32 of shape (3, pairs), by
    source and destination"""

    @classmethod
    def of(cls, circuits: Circuits, block: int, num_blocks: int) -> "Between":
        """Blocks of so many ranks joined by circuits (source rank, destination rank, wavelengths)."""
        ends = np.array(circuits, dtype=np.int64).reshape(-1, 3)
        sources, destinations, widths = ends[:, 0] // block, ends[:, 1] // block, ends[:, 2]
        is_between = sources != destinations
        cells, lit = (sources * num_blocks + destinations)[is_between], widths[is_between]
        if num_blocks <= MAX_TABLE_BLOCKS:
            table = np.bincount(cells, weights=lit, minlength=num_blocks**2)
            pairs = np.flatnonzero(table)
            total = table[pairs]
        else:
            pairs, place = np.unique(cells, return_inverse=True)
            total = np.bincount(place, weights=lit, minlength=len(pairs))
        return cls(num_blocks, np.stack([*np.divmod(pairs, num_blocks), total]).astype(np.int32).tobytes())

    @property
    def pairs(self) -> NDArray[np.int32]:
        """Source, destination and wavelengths of each pair, shape (3, pairs)."""
        return np.frombuffer(self.packed, dtype=np.int32).reshape(3, -1)

    @cached_property
    def in_units(self) -> tuple[int, "Between"]:
        """Greatest common width, and the same circuits in widths of it; (1, itself) where there are none."""
        ends, unit = self.pairs, int(np.gcd.reduce(self.pairs[2]))
        if unit <= 1:
            return 1, self
        return unit, Between(self.num_blocks, np.stack([*ends[:2], ends[2] // unit]).tobytes())

    @cached_property
    def reversed(self) -> "Between":
        """The same light the other way round."""
        sources, destinations, widths = self.pairs
        order = np.lexsort((sources, destinations))
        return Between(self.num_blocks, np.stack([destinations, sources, widths])[:, order].tobytes())

    @property
    def table(self) -> Ints:
        """Wavelengths from block to block, shape (blocks, blocks): of few blocks only."""
        table = np.zeros((self.num_blocks, self.num_blocks), dtype=np.int64)
        sources, destinations, widths = self.pairs
        table[sources, destinations] = widths
        return table

    def leaving(self) -> Iterator[tuple[int, list[tuple[int, int]]]]:
        """Blocks with circuits to others: (destination, wavelengths) of each."""
        sources, destinations, widths = self.pairs.tolist()
        peers: dict[int, list[tuple[int, int]]] = {}
        for source, destination, width in zip(sources, destinations, widths, strict=True):
            peers.setdefault(source, []).append((destination, width))
        yield from peers.items()


def busiest(tables: Sequence[Between], places: NDArray[np.integer[Any]], num_places: int) -> Ints:
    """Most wavelengths from place to place over all configurations, where block i lies at `places[..., i]`: shape
    (..., places, places), zero within a place."""
    lines = places.reshape(-1, places.shape[-1])
    needed = np.zeros((len(lines), num_places, num_places), dtype=np.int64)
    pairs = [between.pairs for between in tables]
    most = max((each.shape[1] for each in pairs), default=0) * len(lines)
    together = max(1, MOST_SUMMED // max(most, 1))
    for i in range(0, len(pairs), together):
        np.maximum(needed, _sums(pairs[i : i + together], lines, num_places).max(axis=0), out=needed)
    needed[..., range(num_places), range(num_places)] = 0
    return needed.reshape(*places.shape[:-1], num_places, num_places)


@lru_cache(maxsize=MOST_PLACES)
def busiest_pairs(tables: tuple[Between, ...], places: bytes) -> Sequence[tuple[int, int, int]]:
    """The same of blocks at these places, 32-bit numbers from 0 on: place, other place and wavelengths of each ordered
    pair with light."""
    lie = np.frombuffer(places, dtype=np.int32)
    needed = busiest(tables, lie, int(lie.max()) + 1)
    return tuple([(a, b, int(needed[a, b])) for a, b in np.argwhere(needed).tolist()])


def _sums(pairs: Sequence[NDArray[np.int32]], lines: NDArray[np.integer[Any]], num_places: int) -> Ints:
    """Wavelengths of each configuration from place to place, shape (configurations, lines, places, places)."""
    sources, destinations, widths = np.concatenate(pairs, axis=1)
    number = np.repeat(np.arange(len(pairs)), [each.shape[1] for each in pairs])
    first = number * len(lines) + np.arange(len(lines))[:, None]
    cells = (first * num_places + lines[:, sources]) * num_places + lines[:, destinations]
    shape = len(pairs), len(lines), num_places, num_places
    sums = np.bincount(cells.ravel(), weights=np.tile(widths, len(lines)), minlength=prod(shape))
    return sums.astype(np.int64).reshape(shape)

"""Light from block to block of a job, kept by pairs: of all pairs of many blocks few have circuits."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costmodel.fabrics import Circuits

Ints = NDArray[np.int64]


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
        pairs, place = np.unique((sources * num_blocks + destinations)[is_between], return_inverse=True)
        total = np.bincount(place, weights=widths[is_between], minlength=len(pairs))
        return cls(num_blocks, np.stack([*np.divmod(pairs, num_blocks), total]).astype(np.int32).tobytes())

    @property
    def pairs(self) -> NDArray[np.int32]:
        """Source, destination and wavelengths of each pair, shape (3, pairs)."""
        return np.frombuffer(self.packed, dtype=np.int32).reshape(3, -1)

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

    def over(self, places: NDArray[np.integer[Any]], num_places: int) -> Ints:
        """Wavelengths from place to place where block i lies at `places[..., i]`: shape (..., places, places), zero
        within a place."""
        sources, destinations, widths = self.pairs
        lines = places.reshape(-1, self.num_blocks)
        first = np.arange(len(lines))[:, None] * num_places
        cells = (first + lines[:, sources]) * num_places + lines[:, destinations]
        size = len(lines) * num_places**2
        sums = np.bincount(cells.ravel(), weights=np.tile(widths, len(lines)), minlength=size)
        found = sums.astype(np.int64).reshape(*places.shape[:-1], num_places, num_places)
        found[..., range(num_places), range(num_places)] = 0
        return found


def busiest(tables: Sequence[Between], places: NDArray[np.integer[Any]], num_places: int) -> Ints:
    """Most wavelengths from place to place over all configurations, as `Between.over`."""
    needed = np.zeros((*places.shape[:-1], num_places, num_places), dtype=np.int64)
    for between in tables:
        np.maximum(needed, between.over(places, num_places), out=needed)
    return needed

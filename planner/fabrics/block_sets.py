"""Least wavelengths that leave any set of so many blocks: every set is tried."""

from collections.abc import Sequence
from functools import lru_cache
from math import gcd

import numpy as np
from numpy.typing import NDArray

from planner.fabrics.circuits_between import Between

Ints = NDArray[np.int64]
Ints32 = NDArray[np.int32]


def least_leaving(num_blocks: int, between: Sequence[Between]) -> Ints:
    """Try every set of blocks with block 0 in it; its complement has as many leaving.

    `between` has the light from block to block in each configuration; what differs in widths alone is tried once.
    """
    each = [light.in_units for light in between if light.packed]
    common = gcd(*(unit for unit, _ in each)) or 1
    return common * _least_leaving(num_blocks, tuple((unit // common, light) for unit, light in each))


@lru_cache(maxsize=10_000)
def _least_leaving(num_blocks: int, between: tuple[tuple[int, Between], ...]) -> Ints:
    """The same, of light that is so many times as wide."""
    by_size, first = _subsets(num_blocks)
    tables = [unit * light.table for unit, light in between]
    leaving = _leaving(np.array(tables, dtype=np.int32).reshape(-1, num_blocks, num_blocks)).max(axis=0, initial=0)
    least = np.zeros(num_blocks + 1, dtype=np.int64)
    least[1:] = np.minimum.reduceat(leaving[by_size], first)
    least[0] = least[num_blocks]
    return np.minimum(least, least[::-1])


def _leaving(widths: Ints32) -> Ints32:
    """Wavelengths that leave each set with block 0 in it, by its mask of the other blocks, in each configuration:
    shape (configurations, blocks, blocks) to (configurations, 2 ** (blocks - 1)).

    A block that joins sets of those before it sends what it sends, less what it exchanges with them. Sums of integers,
    since a product of matrices wakes all cores for so little.
    """
    sent, exchanged = widths.sum(axis=2, dtype=np.int32), widths + widths.transpose(0, 2, 1)
    leaving = sent[:, :1]
    for block in range(1, widths.shape[1]):
        within = exchanged[:, block, :1]
        for other in range(1, block):
            within = np.concatenate([within, within + exchanged[:, block, other, None]], axis=1)
        leaving = np.concatenate([leaving, leaving + (sent[:, block, None] - within)], axis=1)
    return np.asarray(leaving)


@lru_cache(maxsize=4)
def _subsets(num_blocks: int) -> tuple[Ints, Ints]:
    """Sets with block 0, by their masks of the others, in ascending size, and the first set of each size 1..n."""
    others = (np.arange(2 ** (num_blocks - 1))[:, None] >> np.arange(num_blocks - 1)) & 1
    sizes = 1 + others.sum(axis=1)
    by_size = np.argsort(sizes, kind="stable")
    return by_size, np.searchsorted(sizes[by_size], np.arange(1, num_blocks + 1))

"""Digits of a plan: how many ranks each one tells apart, and to which ranks its circuits lead.

A window of consecutive ranks is cut into as many windows as the radix says, the last maybe shorter, until single ranks
are left. Where the radices multiply to the ranks, ranks that differ in one digit form complete graphs; otherwise
circuits lead a number of ranks ahead, modulo the ranks.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import prod
from operator import mul

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
V, U = 0, 1
"""sums of an exchange with padding: over the ranks up to its own, and over the same without its own"""


@dataclass(frozen=True)
class Level:
    """One digit: windows of `length` ranks are cut into `radix` windows of `window` ranks, the last maybe shorter."""

    digit: int
    length: int
    window: int
    radix: int


def levels(ranks: int, radices: tuple[int, ...]) -> list[Level]:
    """Levels of radices in windows, the widest first."""
    found, length = [], ranks
    for digit, radix in enumerate(radices):
        window = -(-length // radix)
        found.append(Level(digit, length, window, radix))
        length = window
    return found


def is_exact(ranks: int, radices: tuple[int, ...]) -> bool:
    """Whether the radices multiply to the ranks."""
    return prod(radices) == ranks


def digit_of(ranks: Ints, level: Level) -> Ints:
    """The digit of each rank at a level, where radices are exact."""
    return ranks // level.window % level.radix


def window_peers(ranks: int, level: Level, exact: bool) -> Iterator[tuple[Ints, int]]:
    """(receiver of each rank, windows ahead) of the circuits of a digit that sends parts of messages."""
    everyone = np.arange(ranks)
    for ahead in range(1, level.radix):
        if exact:
            own = digit_of(everyone, level)
            yield everyone + ((own + ahead) % level.radix - own) * level.window, ahead
        else:
            yield (everyone + ahead * level.window) % ranks, ahead


def sums_ahead(level: Level) -> list[tuple[int, int]]:
    """(ranks ahead, V or U) of each peer of a digit that sends sums, where radices are not exact."""
    window, length = level.window, level.length
    num_full = length - level.radix * (window - 1)
    starts = [i * window for i in range(num_full)]
    starts += [num_full * window + i * (window - 1) for i in range(level.radix - num_full)]
    return [(start, V) if i < num_full else (start - 1, U) for i, start in enumerate(starts)][1:]


def relays(ranks: int, radices: tuple[int, ...]) -> list[list[int]]:
    """Ranks ahead by digit where what has far to go travels one digit of its distance at a time."""
    strides = accumulate(radices, mul, initial=1)
    return [
        [far for far in range(stride, stride * radix, stride) if far < ranks]
        for radix, stride in zip(radices, strides, strict=False)
    ]


def num_relays(ranks: int, radices: tuple[int, ...]) -> int:
    """Rounds in which the parts that one rank has for all others travel."""
    strides = accumulate(radices, mul, initial=1)
    far = np.arange(ranks)
    return sum(int(np.count_nonzero(far // stride % radix)) for radix, stride in zip(radices, strides, strict=False))


def straight(radices: tuple[int, ...]) -> list[range]:
    """Ranks ahead by digit where everything goes straight to its destination, the nearest first."""
    first = [*accumulate((radix - 1 for radix in radices), initial=1)]
    return [range(start, end) for start, end in pairwise(first)]


def nearest_first(ranks: int, radices: tuple[int, ...]) -> Ints:
    """Name of each rank where the first digit varies fastest, given by its name where the last one does.

    Radices are exact. Digits in front then tell neighbours apart, which lie in one server.
    """
    names = np.empty(ranks, dtype=np.int64)
    order = np.arange(ranks).reshape(radices).transpose(*reversed(range(len(radices))))
    names[order.ravel()] = np.arange(ranks)
    return names

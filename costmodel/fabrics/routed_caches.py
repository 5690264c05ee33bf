"""Caches of prompts on the links of a slice: how many meet on the busiest link, and how far they go.

Replicas of prompts are the first of those that share a slice, as in `transfer_pairs`. Each sends one cache at a time,
and each of the others takes one in: a link carries at most as many as there are senders, or receivers, whose ways lead
over it. Ways go along the first axis first, the shorter way round; where both are equal, half of a cache goes each way.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from costmodel.parallelism.pools import transfer_pairs

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Row = Literal["ring", "line", "joined"]
"""how the places along an axis are joined: each with the next, the last with the first too, or all with all"""
Axes = tuple[tuple[int, Row], ...]
"""extent of each axis, and how its places are joined"""


@dataclass(frozen=True)
class RoutedCaches:
    """What the caches of two pools ask of the links of their slice."""

    on_link: float
    """caches that share the busiest link, 1 or more, by the bandwidth of a link"""
    hops: int
    """of the longest way"""
    mean_hops: float
    """of a byte"""


@lru_cache(maxsize=65536)
def routed_caches(prefill: int, decode: int, axes: Axes, widths: tuple[float, ...] = ()) -> RoutedCaches:
    """Of the worst order in which the axes may number the replicas: groups of experts take the first ones. `widths`:
    bandwidth of a link along each axis, 1 where absent."""
    used = tuple(each for each in axes if each[0] > 1)
    width = [width for (extent, _), width in zip(axes, widths or (1.0,) * len(axes), strict=True) if extent > 1]
    senders, receivers = np.array(transfer_pairs(prefill, decode), np.int64).T
    shares = _overlaps(prefill, decode, senders, receivers)
    on_link, hops, mean = 1 / min(width), 0, 0.0
    for order in permutations(range(len(used))):
        start, end = (_places(order, used, replicas) for replicas in (senders, prefill + receivers))
        each = [_along(axis, used, start, end, senders, receivers) for axis in range(len(used))]
        ways = np.sum([far for _, far in each], axis=0)
        on_link = max(on_link, *(most / width[axis] for axis, (most, _) in enumerate(each)))
        hops, mean = max(hops, int(ways.max())), max(mean, float(ways @ shares))
    return RoutedCaches(on_link, hops, mean)


def _overlaps(prefill: int, decode: int, senders: Ints, receivers: Ints) -> Floats:
    """Share of all caches that each pair hands over."""
    first = np.maximum(senders / prefill, receivers / decode)
    return np.asarray(np.minimum((senders + 1) / prefill, (receivers + 1) / decode) - first)


def _places(order: tuple[int, ...], axes: Axes, replicas: Ints) -> Ints:
    """Coordinates of replicas, shape (axes, replicas), that these axes number in this order, the first the fastest."""
    at, rest = np.zeros((len(axes), len(replicas)), np.int64), replicas
    for axis in order:
        rest, at[axis] = np.divmod(rest, axes[axis][0])
    return at


def _along(axis: int, axes: Axes, start: Ints, end: Ints, senders: Ints, receivers: Ints) -> tuple[float, Ints]:
    """Caches on the busiest link along an axis, and hops of each pair there: axes before it are passed, others not."""
    extent, row = axes[axis]
    lines = np.zeros(len(senders), np.int64)
    for other, (length, _) in enumerate(axes):
        if other != axis:
            lines = lines * length + (end if other < axis else start)[other]
    steps = [*_steps(start[axis], end[axis], extent, row)]
    pair, link, share = (np.concatenate(column) for column in zip(*steps, strict=True))
    link = lines[pair] * 2 * extent**2 + link
    hops = np.bincount(pair, share, len(senders)).round().astype(np.int64)
    at_once = np.minimum(*(_at_once(link, share, replicas[pair]) for replicas in (senders, receivers)))
    return float(at_once.max(initial=0.0)), hops


def _steps(start: Ints, end: Ints, extent: int, row: Row) -> Iterator[tuple[Ints, Ints, Floats]]:
    """Steps of all pairs along an axis: the pair, the number of the link, and the share of a cache that takes it."""
    gap = end - start
    if row == "joined":
        pair = np.flatnonzero(gap)
        yield pair, start[pair] * extent + end[pair], np.ones(len(pair))
        return
    up, down = (gap % extent, -gap % extent) if row == "ring" else (np.maximum(gap, 0), np.maximum(-gap, 0))
    ways = ((up, up <= down), (down, down <= up)) if row == "ring" else ((up, up > 0), (down, down > 0))
    share = 1 / np.maximum(sum(goes.astype(np.int64) for _, goes in ways), 1)
    for sign, (far, goes) in zip((1, -1), ways, strict=True):
        count = np.where(goes, far, 0)
        pair = np.repeat(np.arange(len(gap)), count)
        step = np.arange(len(pair)) - np.repeat(np.cumsum(count) - count, count)
        yield pair, (start[pair] + sign * step) % extent * 2 + (sign < 0), share[pair]


def _at_once(link: Ints, share: Floats, replica: Ints) -> Floats:
    """Most that is on each link, in ascending order, where each replica has one cache on its way."""
    number = int(replica.max(initial=0)) + 1
    known, of = np.unique(link * number + replica, return_inverse=True)
    most = np.zeros(len(known))
    np.maximum.at(most, of, share)
    return np.asarray(np.bincount(np.unique(known // number, return_inverse=True)[1], most), np.float64)

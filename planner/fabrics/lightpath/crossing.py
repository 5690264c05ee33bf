"""Blocks that a server may hold where fibers carry fewer wavelengths than a tile sends.

All light of a rank that crosses between servers in one configuration is on different wavelengths of its tile, each of
them one that fibers carry: no rank may send, or receive, more of it than there are such wavelengths.
"""

from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from planner.fabrics.boundary import MAX_EXACT_BLOCKS
from planner.fabrics.demand import Demand

Ints = NDArray[np.int64]
Floats32 = NDArray[np.float32]
IMPOSSIBLE = -1


@lru_cache(maxsize=10_000)
def least_crossing(demand: Demand, carried: int) -> tuple[int, ...]:
    """Least wavelengths that leave a server with c = 0..n of the blocks, n the number of blocks, or IMPOSSIBLE where no
    rank's light may be divided so; `carried` wavelengths go over fibers.

    Exact for one server and the rest up to MAX_EXACT_BLOCKS blocks, else a relaxation.
    """
    rows, own = _light_of_ranks(demand, carried)
    n = demand.num_blocks
    if len(rows) and n <= MAX_EXACT_BLOCKS:
        return _over_subsets(demand, rows, own, carried)
    least = [int(width) for width in demand.boundary]
    if not len(rows):
        return tuple(least)
    return tuple(width if _may_part(rows, own, carried, c, n) else IMPOSSIBLE for c, width in enumerate(least))


@lru_cache(maxsize=10_000)
def most_crossing(demand: Demand) -> tuple[int, ...]:
    """Most wavelengths that c = 0..n of the blocks send to all others and receive from them, all configurations
    together."""
    light = np.zeros(demand.num_blocks, dtype=np.int64)
    for between in demand.between_blocks:
        sources, destinations, widths = between.pairs
        np.add.at(light, sources, widths)
        np.add.at(light, destinations, widths)
    most = np.concatenate([[0], np.sort(light)[::-1].cumsum()])
    return tuple(np.minimum(most, most[::-1]).tolist())


def most_apart(demand: Demand) -> tuple[int, ...]:
    """Most blocks that exchange light with none of c = 0..n others; exact up to MAX_EXACT_BLOCKS blocks, else all
    others."""
    n = demand.num_blocks
    if n > MAX_EXACT_BLOCKS:
        return tuple(range(n, -1, -1))
    near = [0] * n
    for between in demand.between_blocks:
        for source, destination in between.pairs[:2].T.tolist():
            near[source] |= 1 << destination
            near[destination] |= 1 << source
    return _most_apart(tuple(near))


@lru_cache(maxsize=10_000)
def _most_apart(near: tuple[int, ...]) -> tuple[int, ...]:
    """The same, of blocks that each exchange light with those of a mask: every set of blocks is tried."""
    n = len(near)
    reached = sizes = np.zeros(1, dtype=np.int64)
    for block, mask in enumerate(near):
        reached = np.concatenate([reached, reached | mask | 1 << block])
        sizes = np.concatenate([sizes, sizes + 1])
    others = n - sum((reached >> block) & 1 for block in range(n))
    most = np.zeros(n + 1, dtype=np.int64)
    np.maximum.at(most, sizes, others)
    return tuple(most.tolist())


def _light_of_ranks(demand: Demand, carried: int) -> tuple[Floats32, Ints]:
    """What a rank sends to, or receives from, each block in one configuration, shape (R, n), and the block it is of;
    distinct ones whose light to all other blocks is more than fibers carry."""
    n, block = demand.num_blocks, demand.block
    found: list[Ints] = []
    for _, circuits in demand.configurations:
        ends = np.array(circuits, dtype=np.int64).reshape(-1, 3)
        for here, there in ((0, 1), (1, 0)):
            light = np.zeros((demand.num_ranks, n + 1), dtype=np.int64)
            np.add.at(light, (ends[:, here], ends[:, there] // block), ends[:, 2])
            light[:, n] = np.arange(demand.num_ranks) // block
            light[np.arange(demand.num_ranks), light[:, n]] = 0
            found.append(light[light[:, :n].sum(axis=1) > carried])
    rows = np.unique(np.concatenate([*found, np.zeros((0, n + 1), dtype=np.int64)]), axis=0)
    return rows[:, :n].astype(np.float32), rows[:, n]


def _over_subsets(demand: Demand, rows: Floats32, own: Ints, carried: int) -> tuple[int, ...]:
    """Try every set of blocks with block 0 in it; its complement parts the same light."""
    n = demand.num_blocks
    inside = _subsets(n)
    for light, block in zip(rows, own, strict=True):
        within = inside @ light
        crossing = np.where(inside[:, block] > 0, light.sum() - within, within)
        inside = inside[crossing <= carried]
    leaving = np.zeros(len(inside), dtype=np.float32)
    for between in demand.between_blocks:
        leaving = np.maximum(leaving, np.einsum("sb,sb->s", inside @ between.table.astype(np.float32), 1 - inside))
    least = np.full(n + 1, np.inf)
    np.minimum.at(least, inside.sum(axis=1).astype(np.int64), leaving)
    least[0] = 0
    least = np.minimum(least, least[::-1])
    return tuple(int(width) if np.isfinite(width) else IMPOSSIBLE for width in least)


@cache
def _subsets(num_blocks: int) -> Floats32:
    """Whether each block is in each set with block 0 in it, shape (2^(n - 1), n)."""
    return ((np.arange(1, 2**num_blocks, 2)[:, None] >> np.arange(num_blocks)) & 1).astype(np.float32)


def _may_part(rows: Floats32, own: Ints, carried: int, count: int, num_blocks: int) -> bool:
    """Whether enough blocks would fit beside so many, and beside all others, if each chose which: necessary only."""
    lightest = np.sort(rows, axis=1).cumsum(axis=1)
    for size in (count, num_blocks - count):
        if 0 < size < num_blocks:
            crossing = lightest[:, num_blocks - size]
            if num_blocks - len(np.unique(own[crossing > carried])) < size:
                return False
    return True

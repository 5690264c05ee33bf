"""All-to-alls over shifted tori: which link carries how much.

Source of the routing, traffic that is divided among shortest ways in proportion to products of weights of links: Xu,
Chiang and Rexford, *Link-state routing with hop-by-hop forwarding can achieve optimal traffic engineering* (IEEE/ACM
ToN 19, 2011).
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from costmodel.fabrics.boxes import Sides
from costmodel.fabrics.line_shifts import LineShifts
from costmodel.fabrics.twisted import LINKS, LinkLoad

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
BACK = np.arange(LINKS) ^ 1
"""the direction opposite to each"""


@dataclass(frozen=True)
class ShortestWays:
    """Ways from each chip of the first cube: the slice looks the same from every cube.

    S chips of a cube, N of the slice; chip number = cube x S + slot.
    """

    after: Ints
    """(N, 6): the next chip to -x, +x, -y, +y, -z, +z"""
    hops: Ints
    """(S, N)"""

    @property
    def mean_hops(self) -> float:
        """Of a byte that a chip sends to any chip, itself included."""
        return float(self.hops.mean())

    def loads(self, weights: Floats) -> Floats:
        """Bytes over each link of the chips of a cube, shape (S, 6), where each chip divides one byte among all chips;
        `weights`, of the same shape, as `LineShifts` has them."""
        (per_cube, chips), farthest = self.hops.shape, int(self.hops.max())
        out = np.tile(weights, (chips // per_cube, 1))
        into, ways = out[self.after, BACK], np.where(self.hops == 0, 1.0, 0.0)
        for hops in range(1, farthest + 1):
            before = np.where(self.hops == hops - 1, ways, 0.0)
            ways += np.where(self.hops == hops, (before[:, self.after] * into).sum(axis=2), 0.0)
        beyond, carried = np.ones(ways.shape), np.zeros(out.shape)
        for hops in range(farthest, 0, -1):
            each = np.where(self.hops == hops, beyond / ways, 0.0)
            before = np.where(self.hops == hops - 1, ways, 0.0)
            sent = each[:, self.after] * before[:, :, None] * out
            beyond += sent.sum(axis=2)
            carried += sent.sum(axis=0)
        return np.asarray(carried.reshape(-1, per_cube, LINKS).sum(axis=0) / chips)


def steps_in_cube(sides: Sides) -> tuple[Ints, Ints]:
    """Of each chip of a cube the slot of the next one in each direction, (S, 6), a face being followed by the opposite
    one; and where that leaves the cube 1 through a + face, -1 through a - face, else 0."""
    chips = np.indices(sides).reshape(3, -1)
    after, leaves = np.empty((2, chips.shape[1], LINKS), dtype=np.int64)
    for direction in range(LINKS):
        axis, step = direction // 2, 1 if direction % 2 else -1
        there = chips.copy()
        there[axis] += step
        after[:, direction] = np.ravel_multi_index(tuple(there), sides, mode="wrap")
        leaves[:, direction] = there[axis] // sides[axis]
    return after, leaves


def joined_cubes(after: Ints, offsets: Ints, cubes: Sides) -> Ints:
    """The next chip of each one in each direction, shape (N, 6), numbered as in `ShortestWays`; `offsets`: cubes along
    each axis to that of the next chip, (S, 6, 3)."""
    here = np.indices(cubes).reshape(3, -1, 1, 1)
    there = np.ravel_multi_index(tuple(here + np.moveaxis(offsets, 2, 0)[:, None]), cubes, mode="wrap")
    return np.asarray(there * len(after) + after).reshape(-1, LINKS)


def neighbours(shifts: LineShifts) -> Ints:
    """The next chip of each one in each direction, shape (N, 6)."""
    after, leaves = steps_in_cube(shifts.sides)
    a, b, c = shifts.sides
    chips = [*product(range(a), range(b), range(c))]
    offsets = [[shifts.offset(direction // 2, chip) for direction in range(LINKS)] for chip in chips]
    return joined_cubes(after, np.array(offsets) * leaves[:, :, None], shifts.cubes)


def shortest_ways(after: Ints, per_cube: int) -> ShortestWays:
    """Hops over links from the chips of the first cube; N to chips that cannot be reached."""
    chips = len(after)
    reached = np.zeros((chips, per_cube), dtype=np.bool_)
    np.fill_diagonal(reached, val=True)
    hops, farthest, new = np.where(reached, 0, chips), 0, reached
    while new.any():
        more = reached.copy()
        for direction in range(LINKS):
            more |= reached[after[:, direction]]
        farthest, new, reached = farthest + 1, more ^ reached, more
        hops[new] = farthest
    return ShortestWays(after, hops.T)


@lru_cache(maxsize=64)
def shifted_load(shifts: LineShifts) -> LinkLoad:
    """An all-to-all over a shifted torus, divided by the weights of its links."""
    per_cube = prod(shifts.sides)
    ways = shortest_ways(neighbours(shifts), per_cube)
    weights = np.array(shifts.weights) if shifts.weights else np.ones((per_cube, LINKS))
    return LinkLoad(int(ways.hops.max()), float(ways.loads(weights).max()), ways.mean_hops)

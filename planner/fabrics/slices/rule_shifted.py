"""All-to-alls over shifted tori, simulated: every chip of a slice forwards what it holds for every other one."""

from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

from costmodel.fabrics.line_shifts import LineShifts
from planner.checks.names import Tile
from planner.fabrics.slices.rule_boxes import Box, Placed, Point, neighbour

Matrix = NDArray[np.float64]


def over_weighted_ways(links: Callable[[Tile, Tile], float], box: Box, placed: Placed) -> tuple[int, float] | None:
    """Hops of the farthest pair, and what crosses the busiest link of one byte that each chip divides among all; None
    where a link is missing. `links`: how many lead from a chip to another."""
    assert box.shifts is not None
    ends = ((placed[place], placed[neighbour(place, axis, box)]) for place in placed for axis in range(3))
    joined = Counter(pair for a, b in ends for pair in ((a, b), (b, a)))
    if any(links(*pair) < number for pair, number in joined.items()):
        return None
    return _forwarded(box.shifts, box.extents)


@lru_cache(maxsize=32)
def _forwarded(shifts: LineShifts, extents: Point) -> tuple[int, float]:
    """The same where all links are there, whatever chips they join."""
    box = Box(extents, {}, shifts=shifts)
    places = [*product(*map(range, extents))]
    number = {place: i for i, place in enumerate(places)}
    ahead = np.array([[number[neighbour(place, axis, box)] for axis in range(3)] for place in places])
    weights = _weights(shifts, places)
    next_to = [(np.argsort(ahead[:, axis]), ahead[:, axis])[forth] for axis in range(3) for forth in (False, True)]
    hops = _hops(next_to)
    ways, farthest = np.eye(len(places)), int(hops.max())
    for far in range(1, farthest + 1):
        nearer = np.where(hops == far - 1, ways, 0.0)
        total = sum(weights[:, [i]] * nearer[after] for i, after in enumerate(next_to))
        ways += np.where(hops == far, total, 0.0)
    held, busiest = np.full(ways.shape, 1 / len(places)), np.zeros(weights.shape)
    for far in range(farthest, 0, -1):
        each = np.where(hops == far, held / ways, 0.0)
        nearer = np.where(hops == far - 1, ways, 0.0)
        for i, after in enumerate(next_to):
            moved = weights[:, [i]] * each * nearer[after]
            busiest[:, i] += moved.sum(axis=1)
            held[after] += moved
    return farthest, float(busiest.max())


def _weights(shifts: LineShifts, places: list[Point]) -> Matrix:
    """Of the links of each place, to -x, +x, -y, +y, -z and +z."""
    if not shifts.weights:
        return np.ones((len(places), 6))
    (a, b, c), each = shifts.sides, np.array(shifts.weights)
    return np.array([each[((x % a) * b + y % b) * c + z % c] for x, y, z in places])


def _hops(next_to: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Of every place to every one."""
    hops = np.where(np.eye(len(next_to[0]), dtype=np.bool_), 0, len(next_to[0]))
    while True:
        nearer = np.minimum(hops, 1 + np.minimum.reduce([hops[after] for after in next_to]))
        if (nearer == hops).all():
            return hops
        hops = nearer

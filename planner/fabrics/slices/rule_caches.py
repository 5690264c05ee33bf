"""Caches of prompts from pool to pool inside a slice, one from each sender and one to each receiver at a time."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import permutations, product

from costmodel.parallelism.configuration import Collective, Configuration
from planner.checks.names import Tile
from planner.checks.required import handed_over
from planner.fabrics.slices.rule_boxes import Box, Placed, Point
from planner.fabrics.slices.rule_links import Links, Time, ways_between

Step = tuple[Tile, Tile]
Taken = dict[Step, float]
"""share of a cache over each link"""


def caches_time(links: Links, configuration: Configuration, box: Box, placed: Placed) -> Time | None:
    """Seconds until a cache is there, and seconds per byte; None where a link is missing.

    Whatever order of the axes numbers the replicas: the time is that of the worst.
    """
    axes, prefill = box.axes["data"], configuration.prefill
    pairs = handed_over(Collective(kind="transfer", radices=(prefill, configuration.data - prefill)))
    hops, byte_s = 0, 0.0
    for order in permutations(axes):
        for start in (place for place in placed if all(place[axis] == 0 for axis in axes)):
            rows = product(*(range(box.extents[axis]) for axis in reversed(order)))
            replicas = [_moved(start, order, row[::-1]) for row in rows]
            ways = {(a, b): [*_way(links, box, placed, replicas[a], replicas[b])] for a, b in pairs}
            hops = max(hops, *(sum(far for far, _ in way) for way in ways.values()))
            slowest = _busiest(links, axes, {pair: _taken(taken for _, taken in way) for pair, way in ways.items()})
            if slowest is None:
                return None
            byte_s = max(byte_s, slowest)
    return hops * links.fabric.alpha_s, byte_s


def _moved(place: Point, axes: Point, to: Point) -> Point:
    """The place with other coordinates along some axes."""
    there = [*place]
    for axis, coordinate in zip(axes, to, strict=True):
        there[axis] = coordinate
    return tuple(there)


def _way(links: Links, box: Box, placed: Placed, source: Point, destination: Point) -> Iterator[tuple[int, Taken]]:
    """Steps along each axis in turn, and what of a cache goes over each link."""
    here = source
    for axis in box.axes["data"]:
        line = [placed[_moved(here, (axis,), (i,))] for i in range(box.extents[axis])]
        found = ways_between(links, line, here[axis], destination[axis])
        yield len(found[0]), _taken({(line[a], line[b]): 1 / len(found) for a, b in way} for way in found)
        here = _moved(here, (axis,), (destination[axis],))


def _taken(parts: Iterable[Taken]) -> Taken:
    found: Taken = defaultdict(float)
    for part in parts:
        for step, share in part.items():
            found[step] += share
    return found


def _busiest(links: Links, axes: Point, ways: dict[tuple[int, int], Taken]) -> float | None:
    """Seconds per byte where each replica has one cache on its way, that one which a link feels most."""
    sides = [defaultdict[Step, dict[int, float]](dict) for _ in range(2)]
    for pair, taken in ways.items():
        for side, replica in zip(sides, pair, strict=True):
            for step, share in taken.items():
                side[step][replica] = max(side[step].get(replica, 0.0), share)
    slowest = max(1 / links.along(axis) for axis in axes)
    for step in sides[0]:
        if not (rate := links.rate(*step)):
            return None
        slowest = max(slowest, min(sum(side[step].values()) for side in sides) / rate)
    return slowest

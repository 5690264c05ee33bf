"""Twisted tori: slices of whole cubes in which light that wraps along the short axes also shifts along the long ones.

Camarero, Martinez and Beivide, *Lattice graphs for high-scale interconnection topologies* (IEEE TPDS 26, 2015), whose
lattices these are; Jouppi et al., *TPU v4* (ISCA 2023), which wires slices of n x n x 2n and n x 2n x 2n so.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from math import lcm, prod
from typing import NamedTuple

from costmodel.fabrics.boxes import Sides

Twist = Mapping[int, Mapping[int, int]]
"""by short axis: how far a wrap shifts along each long axis"""
NO_TWIST: Twist = {}


LINKS = 6
"""of each chip"""


class LinkLoad(NamedTuple):
    """An all-to-all in which the bytes of each pair are divided evenly among all its shortest ways."""

    hops: int
    """of the farthest pair"""
    on_link: float
    """of a message of one byte on each rank, what crosses the busiest link in one direction"""
    mean_hops: float
    """of one byte of it, what does not leave its rank included"""

    @property
    def least_on_link(self) -> float:
        """What no other routing over the same wiring goes below: all links together carry the hops of shortest ways."""
        return self.mean_hops / LINKS


def least_of_any_wiring(ranks: int) -> float:
    """Of a message of one byte on each rank of an all-to-all, what crosses the busiest link at least where each chip
    has six: no more than 6 ranks are one hop away, 30 two, 150 three (Moore's bound)."""
    left, hops, near, total = ranks - 1, 1, LINKS, 0
    while left > 0:
        total += hops * min(near, left)
        left, hops, near = left - near, hops + 1, near * (LINKS - 1)
    return total / ranks / LINKS


def twist_of(box: Sides, sides: Sides) -> Twist:
    """Of a box of n x n x 2n or n x 2n x 2n chips in any order, n of whole cubes along each axis; else none."""
    short, long = min(box), max(box)
    far = [axis for axis in range(3) if box[axis] == long]
    if long != 2 * short or not {*box} <= {short, long} or any(short % side for side in sides):
        return NO_TWIST
    return {axis: dict.fromkeys(far, short) for axis in range(3) if axis not in far}


def least_cubes(sides: Sides) -> int:
    """Of the smallest slice that may be twisted."""
    return 2 * lcm(*sides) ** 3 // prod(sides)


@lru_cache(maxsize=256)
def all_to_all(box: Sides, sides: Sides) -> LinkLoad:
    """The spread over the twisted torus of a box, which looks the same from each of its chips."""
    twist, origin = twist_of(box, sides), (0, 0, 0)
    dist, ways, order = {origin: 0}, {origin: 1.0}, [origin]
    for chip in order:
        for _, after in _next(chip, box, twist):
            if after not in dist:
                dist[after], ways[after] = dist[chip] + 1, 0.0
                order.append(after)
            if dist[after] == dist[chip] + 1:
                ways[after] += ways[chip]
    beyond, load = dict.fromkeys(order, 1.0), [0.0] * 6
    for chip in reversed(order):
        for direction, before in _next(chip, box, twist):
            if dist[before] == dist[chip] - 1:
                share = ways[before] / ways[chip] * beyond[chip]
                load[direction] += share
                beyond[before] += share
    return LinkLoad(max(dist.values()), max(load) / len(order), sum(dist.values()) / len(order))


def _next(chip: Sides, box: Sides, twist: Twist) -> Iterator[tuple[int, Sides]]:
    """Neighbours of a chip, and the direction in which each lies, 0 .. 5."""
    for axis in range(3):
        for sign in (1, -1):
            yield 2 * axis + (sign > 0), neighbour(chip, axis, sign, box, twist)


def neighbour(chip: Sides, axis: int, sign: int, box: Sides, twist: Twist) -> Sides:
    """The next chip along an axis, or the one before; beyond the rim shifted along the long axes."""
    at = list(chip)
    at[axis] += sign
    if not 0 <= at[axis] < box[axis]:
        at[axis] %= box[axis]
        for other, shift in twist.get(axis, {}).items():
            at[other] = (at[other] + sign * shift) % box[other]
    return at[0], at[1], at[2]

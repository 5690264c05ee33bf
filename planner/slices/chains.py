"""Chains of free chips in a cube: a line, or a ring through the switches that close the cube's axes."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product
from math import prod

from planner.slices.allocator import members
from planner.slices.torus_boxes import Sides

MAX_STEPS = 20_000
"""chips that are looked at before a search gives up"""
AXES = (2, 1, 0)
"""on whose faces a chain may begin and end, in the order in which they are tried"""


def free_chain(free: int, sides: Sides, length: int, *, closed: bool) -> tuple[int, ...] | None:
    """So many free chips, each linked to the one before, both ends on faces across one axis; None where none is found.

    `free`: a bit mask by chip, the last axis fastest; `closed`: the last chip is linked to the first as well. RFold
    (arXiv:2510.03891) places jobs with one dimension so, for 10 s at most; here the search ends after MAX_STEPS.
    """
    neighbours, budget = _neighbours(sides), [MAX_STEPS]
    for axis in AXES:
        face = sum(1 << chip for chip, at in enumerate(_places(sides)) if at[axis] in (0, sides[axis] - 1))
        for first in members(free & face):
            last = neighbours[first] & face if closed else face
            found = _extended([first], free ^ 1 << first, last, length, neighbours, budget)
            if found is not None:
                return tuple(found)
    return None


def _extended(
    chain: list[int], free: int, last: int, length: int, neighbours: Sequence[int], budget: list[int]
) -> list[int] | None:
    """A chain that goes on to its length and ends on one of the chips `last`, by depth-first search."""
    if len(chain) == length:
        return chain if last >> chain[-1] & 1 else None
    for chip in members(free & neighbours[chain[-1]]):
        if budget[0] == 0:
            return None
        budget[0] -= 1
        found = _extended([*chain, chip], free ^ 1 << chip, last, length, neighbours, budget)
        if found is not None:
            return found
    return None


@lru_cache(maxsize=64)
def _neighbours(sides: Sides) -> tuple[int, ...]:
    """Chips linked to each chip, as bit masks; every axis closes on itself."""
    return tuple(sum(1 << chip for chip in {*_linked(at, sides)}) for at in _places(sides))


def _linked(at: Sides, sides: Sides) -> Iterator[int]:
    for axis, sign in product(range(3), (1, -1)):
        place = [*at]
        place[axis] = (place[axis] + sign) % sides[axis]
        if place[axis] != at[axis]:
            yield sum(place[i] * prod(sides[i + 1 :]) for i in range(3))


def _places(sides: Sides) -> list[Sides]:
    return [*product(range(sides[0]), range(sides[1]), range(sides[2]))]

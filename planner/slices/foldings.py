"""Foldings: boxes of other extents whose links hold all that the rings and lines of a box need.

RFold (*Toward Co-adapting Machine Learning Job Shape and Cluster Topology*, arXiv:2510.03891) places a job on any box
of its size into which the grid of the job maps one to one, links on links; an axis of such a grid closes to a ring
where it is as long as a cube. Which boxes these are, and how, is found here axis by axis: products of such maps are
such maps.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations, product
from math import prod
from typing import NamedTuple

from planner.slices.torus_boxes import Sides

Place = tuple[int, ...]
Groups = tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]
"""axes asked for, and the axes of the box that serve them"""


class Folding(NamedTuple):
    """A box inside one cube, and where the chips of a job lie on it."""

    extents: Sides
    places: tuple[int, ...]
    """of each chip of the box that was asked for, the place in this one; both numbered with the last axis fastest"""


@lru_cache(maxsize=256)
def foldings(asked: Sides, side: int) -> tuple[Folding, ...]:
    """Boxes in a cube of `side` that serve a box inside one, that one first, then the most compact ones."""
    volume = prod(asked)
    lengths = range(1, side + 1)
    boxes = [box for box in product(lengths, lengths, lengths) if prod(box) == volume]
    boxes.sort(key=lambda box: (box != asked, sum(box), box))
    found = ((box, next(_matched(asked, box, side, _axes(asked), _axes(box)), None)) for box in boxes)
    return tuple(Folding(box, _places(asked, box, groups, side)) for box, groups in found if groups is not None)


def _axes(box: Sides) -> Place:
    """Those longer than 1."""
    return tuple(axis for axis, extent in enumerate(box) if extent > 1)


def _matched(asked: Sides, box: Sides, side: int, mine: Place, theirs: Place) -> Iterator[Groups]:
    """Ways to serve these axes by those of the box, all of them."""
    if not mine:
        if not theirs:
            yield ()
        return
    first, rest = mine[0], mine[1:]
    for number in range(1, len(theirs) + 1):
        for axes in combinations(theirs, number):
            if _serves((asked[first],), [box[axis] for axis in axes], side):
                others = tuple(axis for axis in theirs if axis not in axes)
                for groups in _matched(asked, box, side, rest, others):
                    yield ((first,), axes), *groups
    for second, axis in product(rest, theirs):
        if _serves((asked[first], asked[second]), [box[axis]], side):
            left = tuple(each for each in rest if each != second), tuple(each for each in theirs if each != axis)
            for groups in _matched(asked, box, side, *left):
                yield ((first, second), (axis,)), *groups


def _serves(asked: Sequence[int], extents: Sequence[int], side: int) -> bool:
    """Whether axes of these extents hold one asked line or ring, or two lines: four chips in a square are a ring."""
    if len(asked) == 2:
        return [*asked] == [2, 2] and [*extents] == [4] and side == 4
    if prod(extents) != asked[0]:
        return False
    return len(extents) == 1 or asked[0] != side or asked[0] % 2 == 0


def _places(asked: Sides, box: Sides, groups: Groups, side: int) -> tuple[int, ...]:
    """Place on the box of each chip asked for."""
    found = []
    for chip in product(*map(range, asked)):
        at = [0, 0, 0]
        for mine, theirs in groups:
            place = _walk(tuple(box[axis] for axis in theirs), asked[mine[0]] == side)[_step(chip, mine)]
            for axis, coordinate in zip(theirs, place, strict=True):
                at[axis] = coordinate
        found.append((at[0] * box[1] + at[1]) * box[2] + at[2])
    return tuple(found)


def _step(chip: Sequence[int], axes: Place) -> int:
    """How far along its walk a chip lies; the corners of a square in the order of a ring."""
    if len(axes) == 1:
        return chip[axes[0]]
    return [(0, 0), (0, 1), (1, 1), (1, 0)].index((chip[axes[0]], chip[axes[1]]))


@lru_cache(maxsize=256)
def _walk(extents: tuple[int, ...], closed: bool) -> tuple[Place, ...]:
    """All places of a grid, each next to the one before, and where it is closed the last one next to the first."""
    if len(extents) == 1:
        return tuple((place,) for place in range(extents[0]))
    inner, last = _walk(extents[:-1], closed=False), extents[-1]
    steps = _round(len(inner), last) if closed else _forth_and_back(range(len(inner)), range(last))
    return tuple((*inner[row], column) for row, column in steps)


def _forth_and_back(rows: Sequence[int], columns: Sequence[int]) -> list[tuple[int, int]]:
    """Row after row, every other one backwards."""
    return [(row, column) for i, row in enumerate(rows) for column in (columns if i % 2 == 0 else columns[::-1])]


def _round(rows: int, columns: int) -> list[tuple[int, int]]:
    """Through all columns but the first, row after row, and back along the first; one of the numbers is even."""
    if rows % 2:
        return [(row, column) for column, row in _round(columns, rows)]
    return [*_forth_and_back(range(rows), range(1, columns)), *((row, 0) for row in reversed(range(rows)))]

"""Boxes of a torus: which there are of a volume, who takes which axes, and where they lie in a server."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from math import prod

import numpy as np

from costmodel.fabrics.group_plans import GroupPlan
from costmodel.fabrics.sliced import Axes, Owners, Slice
from costmodel.parallelism.degrees import divisors

Sides = tuple[int, int, int]
POINT: Sides = (1, 1, 1)


@lru_cache(maxsize=1024)
def boxes(sides: Sides, volume: int, cubes: int) -> tuple[Sides, ...]:
    """Boxes of a volume, the most compact first: extents up to the sides, or multiples of them over so many cubes."""
    along = [
        [extent for extent in divisors(volume) if extent <= side or (extent % side == 0 and extent // side <= cubes)]
        for side in sides
    ]
    found = [
        (a, b, volume // (a * b))
        for a, b in product(along[0], along[1])
        if volume % (a * b) == 0 and volume // (a * b) in along[2]
    ]
    return tuple(sorted(found, key=lambda box: (sum(box), box)))


def is_inside(box: Sides, sides: Sides) -> bool:
    """Whether a box lies in one server."""
    return all(extent <= side for extent, side in zip(box, sides, strict=True))


def extents_of(plans: Sequence[GroupPlan]) -> tuple[Sides, ...]:
    """What each plan takes along the three axes."""
    taken = []
    for plan in plans:
        a, b, c = plan.radices or POINT
        taken.append((a, b, c))
    return tuple(taken)


@lru_cache(maxsize=1 << 16)
def owners_of(extents: tuple[Sides, ...], sides: Sides, cubes: int, boards: Sides = POINT) -> Owners | None:
    """Axes of what takes so much along each axis, by DIMENSIONS; None where one is wanted twice or a box does not fit.

    Of boxes that are alike by symmetry only one counts: of axes of equal sides, and equal sides of boards, those that
    whole cubes make longest come first, and of axes of equal extents those of the first owner.
    """
    tensor, pipeline, data, context, expert = extents
    inner = _times(context, expert)
    outer = data if data != POINT else inner
    for axis in range(3):
        if sum(extent[axis] > 1 for extent in (tensor, pipeline, outer)) > 1:
            return None
        if min(context[axis], expert[axis]) > 1 or inner[axis] not in (1, outer[axis]):
            return None
    rest = tuple(o // i for o, i in zip(outer, inner, strict=True))
    taken = Owners(*map(_axes, (tensor, pipeline, context, expert, rest)))
    box = _times(_times(tensor, pipeline), outer)
    inside = is_inside(box, sides)
    is_whole = all(extent % side == 0 for extent, side in zip(box, sides, strict=True))
    if not inside and not (is_whole and prod(box) // prod(sides) <= cubes):
        return None
    owner = {axis: number for number, axes in enumerate(taken) for axis in axes}
    order = [(-extent, owner.get(axis, len(taken))) for axis, extent in enumerate(box)]
    for i, j in ((0, 1), (0, 2), (1, 2)):
        is_alike = (sides[i], boards[i]) == (sides[j], boards[j])
        if is_alike and order[i] > order[j] and (box[i] == box[j] or not inside):
            return None
    return taken


def box_of(extents: Sequence[Sides]) -> Sides:
    """Extents of all dimensions together, by DIMENSIONS: context and expert are parts of data where it sends."""
    tensor, pipeline, data, context, expert = extents
    return _times(_times(tensor, pipeline), data if data != POINT else _times(context, expert))


def _times(one: Sides, other: Sides) -> Sides:
    return one[0] * other[0], one[1] * other[1], one[2] * other[2]


def _axes(extents: Sequence[int]) -> Axes:
    return tuple(axis for axis, extent in enumerate(extents) if extent > 1)


@lru_cache(maxsize=1024)
def slices_of(sides: Sides, cut: Sides, *, wraps: bool, aligned: bool = False) -> tuple[Slice, ...]:
    """Places of a box in a server, those at multiples of its extents first (`aligned`: those alone); `wraps`: across
    the rim as well."""
    starts = [
        [0] if extent == side else range(0, side if wraps else side - extent + 1, extent if aligned else 1)
        for extent, side in zip(cut, sides, strict=True)
    ]
    origins = sorted(product(*starts), key=lambda o: (sum(a % e != 0 for a, e in zip(o, cut, strict=True)), o))
    inside = np.indices(cut).reshape(3, 1, -1)
    at = (np.array(origins).T[:, :, None] + inside) % np.array(sides)[:, None, None]
    slots = np.ravel_multi_index(tuple(at), sides)
    taken = np.zeros((len(origins), prod(sides)), dtype=np.bool_)
    np.put_along_axis(taken, slots, True, axis=1)
    masks = np.packbits(taken, axis=1, bitorder="little")
    return tuple(
        Slice(tuple(row), int.from_bytes(mask.tobytes(), "little"))
        for row, mask in zip(slots.tolist(), masks, strict=True)
    )

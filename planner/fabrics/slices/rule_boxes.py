"""The box that a part of a job takes on a torus or SiPAC, and the place of each rank in it, from the configuration."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from costmodel.fabrics import Sipac, Torus
from costmodel.fabrics.line_shifts import LineShifts
from costmodel.parallelism.configuration import Collective, Configuration
from costmodel.parallelism.mappings import DIMENSIONS
from planner.checks.names import Tile
from planner.checks.required import digits_of

Point = tuple[int, ...]


@dataclass(frozen=True)
class Box:
    """Extents by axis, and the axes along which the index of each dimension varies; data has those of its parts too."""

    extents: Point
    axes: Mapping[str, Point]
    is_twisted: bool = False
    """whether the wraps along its short axes shift along the long ones"""
    shifts: LineShifts | None = None
    """of its lines, where it is wired as a shifted torus"""

    @property
    def num_ranks(self) -> int:
        return prod(self.extents)


def box_of(fabric: Torus | Sipac, configuration: Configuration) -> Box | None:
    """Box of a part; None where its collectives want one axis twice, more axes than there are, or take them otherwise
    than in extents that make up their ranks."""
    collectives: dict[str, Collective] = {d: getattr(configuration, f"{d}_collective") for d in DIMENSIONS}
    c = configuration
    ranks = (c.tensor, c.pipeline, c.data * c.context // c.racks, c.context, c.expert)
    for collective, number in zip(collectives.values(), ranks, strict=True):
        radices = collective.radices
        is_known = len(radices) == 3 if isinstance(fabric, Torus) else set(radices) == {fabric.radix}
        if radices and not (is_known and prod(radices) == number):
            return None
    if isinstance(fabric, Torus):
        return _torus_box(fabric, collectives)
    taken = {dimension: len(collective.radices) for dimension, collective in collectives.items()}
    inner = taken["context"] + taken["expert"]
    first, axes = 0, dict[str, Point]()
    for dimension in ("tensor", "pipeline", "context", "expert"):
        axes[dimension] = tuple(range(first, first + taken[dimension]))
        first += taken[dimension]
    last = first - inner + max(inner, taken["data"])
    axes["data"] = tuple(range(first - inner, last)) if taken["data"] else ()
    is_sound = last <= fabric.digits and (not taken["data"] or inner <= taken["data"])
    return Box((fabric.radix,) * last, axes) if is_sound else None


def _torus_box(fabric: Torus, collectives: Mapping[str, Collective]) -> Box | None:
    radices = {dimension: collective.radices or (1, 1, 1) for dimension, collective in collectives.items()}
    axes = {d: tuple(i for i, extent in enumerate(radices[d]) if extent > 1) for d in radices}
    outer = ["tensor", "pipeline", *(["data"] if axes["data"] else ["context", "expert"])]
    owners = [axis for dimension in outer for axis in axes[dimension]]
    inner = [*axes["context"], *axes["expert"]]
    if len(set(owners)) < len(owners) or len(set(inner)) < len(inner):
        return None
    if axes["data"] and any(radices[d][i] != radices["data"][i] for d in ("context", "expert") for i in axes[d]):
        return None
    kinds = {collective.kind for collective in collectives.values()}
    extents = tuple(prod(radices[d][i] for d in outer) for i in range(3))
    if not kinds.isdisjoint(("shifted", "shifted_direct")):
        shifts = _shifts(fabric, extents)
        return Box(extents, axes, shifts=shifts) if shifts is not None else None
    return Box(extents, axes, not kinds.isdisjoint(("twisted", "twisted_bucket")))


def _shifts(fabric: Torus, extents: Point) -> LineShifts | None:
    """Those of the only wiring for slices of these extents."""
    for each in fabric.switches.line_shifts if fabric.switches is not None else ():
        if tuple(side * cubes for side, cubes in zip(each.sides, each.cubes, strict=True)) == extents:
            return each
    return None


def place_in(box: Box, configuration: Configuration, rank: int) -> Point:
    """Coordinates of a rank along the axes of its part's box."""
    c, place = configuration, [0] * len(box.extents)
    rest, tensor = divmod(rank, c.tensor)
    rest, context = divmod(rest, c.context)
    data, stage = divmod(rest, c.pipeline)
    beside = tuple(i for i in box.axes["data"] if i not in (*box.axes["context"], *box.axes["expert"]))
    indices = [
        (box.axes["tensor"], tensor),
        (box.axes["context"], context),
        (box.axes["expert"], data % c.expert),
        (beside, data // c.expert),
    ]
    for axes, index in indices:
        for axis, digit in zip(axes, digits_of(index, tuple(box.extents[i] for i in axes)), strict=True):
            place[axis] = digit
    for axis in box.axes["pipeline"]:
        stage, digit = divmod(stage, box.extents[axis])
        place[axis] = digit if stage % 2 == 0 else box.extents[axis] - 1 - digit
    return tuple(place)


def parts_of(box: Box, configuration: Configuration) -> list[list[int]]:
    """Ranks of each part."""
    size = box.num_ranks
    return [list(range(first, first + size)) for first in range(0, configuration.num_devices, size)]


def chip_of(fabric: Torus | Sipac, slot: int) -> Point:
    """Coordinates of a slot in its server: x, y, z, or digits from the least significant."""
    if isinstance(fabric, Torus):
        _, b, c = fabric.sides
        return slot // (b * c), slot // c % b, slot % c
    return digits_of(slot, (fabric.radix,) * fabric.digits)


def is_of_whole_cubes(fabric: Torus, box: Box) -> bool:
    """True if the box is longer than a cube along some axis."""
    return any(extent > side for extent, side in zip(box.extents, fabric.sides, strict=True))


def neighbour(place: Sequence[int], axis: int, box: Box) -> Point:
    """The next place along an axis; across the rim of a twisted box half of each longer axis further along it, and from
    cube to cube of a shifted one where the line leads."""
    ahead = [p + (i == axis) for i, p in enumerate(place)]
    if box.is_twisted and ahead[axis] == box.extents[axis]:
        longer = (i for i, extent in enumerate(box.extents) if extent > box.extents[axis])
        for i in longer:
            ahead[i] += box.extents[i] // 2
    if box.shifts is not None and ahead[axis] % box.shifts.sides[axis] == 0:
        ahead[axis] -= box.shifts.sides[axis]
        offset = _offset(box.shifts, axis, [p for i, p in enumerate(place) if i != axis])
        ahead = [p + side * cubes for p, side, cubes in zip(ahead, box.shifts.sides, offset, strict=True)]
    return tuple(p % e for p, e in zip(ahead, box.extents, strict=True))


def _offset(shifts: LineShifts, axis: int, across: Sequence[int]) -> Point:
    """Cubes by which the line at a place across the axis shifts; patterns repeat, over cubes as over places of one."""
    pattern = (shifts.x, shifts.y, shifts.z)[axis]
    return pattern[across[0] % len(pattern)][across[1] % len(pattern[0])]


Placed = Mapping[Point, Tile]
"""device at each place of a box"""

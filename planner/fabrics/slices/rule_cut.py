"""Slices of fixed extent: boxes of a torus, digit subcubes of a SiPAC."""

from collections.abc import Iterator

from costmodel.fabrics import Sipac, Torus
from costmodel.parallelism.configuration import Configuration
from planner.checks.by_rank import each_lie, places
from planner.checks.names import admitted, tile_of
from planner.fabrics.slices.rule_boxes import Box, Placed, Point, box_of, chip_of, is_of_whole_cubes, parts_of, place_in
from planner.model.instance import Instance
from planner.model.job import Job
from planner.model.plan import Assignment, Plan
from planner.model.violation import Violation


def check_cut(instance: Instance, plan: Plan) -> Iterator[Violation]:
    """The devices of each part are a slice that the fabric has, and each rank lies at its place in it."""
    fabric = instance.cluster.fabric
    assert isinstance(fabric, Torus | Sipac)
    whole = admitted(instance, plan)
    yield from each_lie(places(instance, plan), lambda j: _check_job(fabric, *whole[j]))


def _check_job(fabric: Torus | Sipac, job: Job, assignment: Assignment) -> Iterator[Violation]:
    box = box_of(fabric, assignment.configuration)
    if box is None:
        yield Violation("cut", job.name, f"{job.name}: its collectives make up no box")
        return
    if isinstance(fabric, Torus) and not _is_partition(fabric, box):
        yield Violation("cut", job.name, f"{job.name}: boxes of {box.extents} chips are no partitions of a server")
        return
    if box.num_ranks == 1:
        return
    for number, placed in enumerate(placed_parts(fabric, box, assignment)):
        where = f"{job.name}: part {number}"
        wrong = _torus(fabric, box, placed) if isinstance(fabric, Torus) else _sipac(fabric, box, placed)
        if wrong:
            yield Violation("cut", where, f"{where} {wrong}")


def _is_partition(fabric: Torus, box: Box) -> bool:
    """True if the fabric has boxes of these extents, alone or as whole servers."""
    is_whole = not any(extent % side for extent, side in zip(box.extents, fabric.sides, strict=True))
    return not fabric.partitions or is_whole or any(box.extents == tuple(each) for each in fabric.partitions)


def placed_parts(fabric: Torus | Sipac, box: Box, assignment: Assignment) -> Iterator[Placed]:
    """Device at each place of each part; parts with unknown devices, which are no slices, are left out."""
    configuration: Configuration = assignment.configuration
    if len(assignment.devices) != configuration.num_devices:
        return
    tiles = [tile_of(fabric, name) for name in assignment.devices]
    for part in parts_of(box, configuration):
        placed = {place_in(box, configuration, rank): tile for rank in part if (tile := tiles[rank]) is not None}
        if len(placed) == box.num_ranks:
            yield placed


def _torus(fabric: Torus, box: Box, placed: Placed) -> str | None:
    """Faults of a box of a torus."""
    if is_of_whole_cubes(fabric, box):
        return _cubes(fabric, box, placed)
    if len({server for server, _ in placed.values()}) > 1:
        return "lies in several servers"
    origin = chip_of(fabric, placed[0, 0, 0][1])
    for axis, (start, extent, side) in enumerate(zip(origin, box.extents, fabric.sides, strict=True)):
        if extent == side and start:
            return f"spans axis {'xyz'[axis]} and must start at 0 there, not at {start}"
        if fabric.switches is not None and start + extent > side:
            return f"crosses the rim of a cube along axis {'xyz'[axis]}"
        if fabric.partitions and start % extent:
            return f"is no partition of a server, since it starts at {start} along axis {'xyz'[axis]}"
    for place, (_, slot) in placed.items():
        expected = tuple((o + p) % side for o, p, side in zip(origin, place, fabric.sides, strict=True))
        if chip_of(fabric, slot) != expected:
            return f"has place {place} on chip {chip_of(fabric, slot)}, not {expected}"
    return None


def _cubes(fabric: Torus, box: Box, placed: Placed) -> str | None:
    """Faults of a box of whole cubes."""
    if fabric.switches is None:
        return "is longer than a server, and no switches join servers"
    if any(extent % side for extent, side in zip(box.extents, fabric.sides, strict=True)):
        return f"is a box of {box.extents}, which is none of whole cubes"
    cube_at: dict[Point, int] = {}
    for place, (server, slot) in placed.items():
        cube = tuple(p // side for p, side in zip(place, fabric.sides, strict=True))
        inside = tuple(p % side for p, side in zip(place, fabric.sides, strict=True))
        if cube_at.setdefault(cube, server) != server:
            return f"has cube {cube} on several servers"
        if chip_of(fabric, slot) != inside:
            return f"has place {place} on chip {chip_of(fabric, slot)}, not {inside}"
    return None if len(set(cube_at.values())) == len(cube_at) else "has several cubes on one server"


def _sipac(fabric: Sipac, box: Box, placed: Placed) -> str | None:
    """Faults of a subcube of digits."""
    if len({server for server, _ in placed.values()}) > 1:
        return "lies in several servers"
    chips: dict[Point, Point] = {place: chip_of(fabric, slot) for place, (_, slot) in placed.items()}
    first = chips[(0,) * len(box.extents)]
    free = [digit for digit in range(fabric.digits) if any(chip[digit] != first[digit] for chip in chips.values())]
    if len(free) != len(box.extents):
        return f"varies in {len(free)} digits, not {len(box.extents)}"
    for place, chip in chips.items():
        if tuple(chip[digit] for digit in free) != place:
            return f"has place {place} on digits {tuple(chip[digit] for digit in free)}"
    return None

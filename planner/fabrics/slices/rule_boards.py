"""Light of boards: no chip sends more wavelengths than it has, and no fiber between boards carries more than it may."""

from collections import Counter
from collections.abc import Iterator, Sequence

from costmodel.fabrics import Torus
from costmodel.parallelism.configuration import Collective, Configuration
from costmodel.parallelism.mappings import DIMENSIONS
from planner.checks.names import Tile, admitted
from planner.fabrics.slices.rule_boxes import Box, Placed, Point, box_of, chip_of, is_of_whole_cubes
from planner.fabrics.slices.rule_cut import placed_parts
from planner.model.instance import Instance
from planner.model.plan import Assignment, Plan
from planner.model.violation import Violation

CHIP_LINKS = 6


def check_boards(instance: Instance, plan: Plan) -> Iterator[Violation]:
    """Links of a job have wavelengths that its chips send, and that can be there: on a board any number, between boards
    as many as a fiber carries."""
    fabric = instance.cluster.fabric
    assert isinstance(fabric, Torus)
    for job, assignment in admitted(instance, plan):
        for wrong in _faults(fabric, assignment):
            yield Violation("boards", job.name, f"{job.name}: {wrong}")


def light_along(configuration: Configuration) -> list[set[int]]:
    """Wavelengths that collectives ask for along x, y and z; nothing where all links are those of a plain torus."""
    asked: list[set[int]] = [set(), set(), set()]
    for collective in _sending(configuration):
        for axis, width in enumerate(collective.wavelengths[:3]):
            if collective.radices[axis : axis + 1] != (1,):
                asked[axis].add(width)
    return asked


def _sending(configuration: Configuration) -> list[Collective]:
    found: list[Collective] = [getattr(configuration, f"{dimension}_collective") for dimension in DIMENSIONS]
    return [collective for collective in found if collective.kind != "none"]


def _faults(fabric: Torus, assignment: Assignment) -> Iterator[str]:
    sending, asked = _sending(assignment.configuration), light_along(assignment.configuration)
    if not any(collective.wavelengths for collective in sending):
        return
    box = box_of(fabric, assignment.configuration)
    if fabric.boards is None:
        yield "its links have wavelengths of boards, and the fabric has none"
    elif any(len(collective.wavelengths) != 3 for collective in sending):
        yield "some of its collectives say what wavelengths links have along x, y and z, others do not"
    elif box is None or is_of_whole_cubes(fabric, box):
        yield "boards divide light among links inside a server, and it has a longer box"
    elif any(len(widths) > 1 for widths in asked):
        yield f"its collectives want links of {asked} wavelengths along x, y and z"
    else:
        widths = [max(each, default=0) for each in asked]
        for placed in placed_parts(fabric, box, assignment):
            yield from _of_part(fabric, box, placed, widths)


def _of_part(fabric: Torus, box: Box, placed: Placed, widths: Sequence[int]) -> Iterator[str]:
    """Faults of the links of a slice, each chip and each link by itself."""
    boards = fabric.boards
    assert boards is not None
    of_fiber = boards.wavelengths_per_fiber or boards.wavelengths_per_link
    sent: Counter[Tile] = Counter()
    for axis, one, other, is_wrap in _links(fabric, box, placed):
        width = widths[axis]
        sent.update({one: width, other: width})
        name = f"{fabric.device_name(*one)} and {fabric.device_name(*other)}"
        if width < boards.wavelengths_per_link:
            yield f"{name} have {width} wavelengths, less than a link of {boards.wavelengths_per_link}"
        is_apart = _board(fabric, one) != _board(fabric, other) or (is_wrap and fabric.switches is not None)
        if is_apart and width > of_fiber:
            yield f"{name} lie on two boards: a fiber between these carries {of_fiber} wavelengths, not {width}"
    for chip, number in sent.items():
        if number > CHIP_LINKS * boards.wavelengths_per_link:
            has = CHIP_LINKS * boards.wavelengths_per_link
            yield f"{fabric.device_name(*chip)} sends {number} wavelengths, and has {has}"


def _links(fabric: Torus, box: Box, placed: Placed) -> Iterator[tuple[int, Tile, Tile, bool]]:
    """Axis and ends of each link of a slice, and whether it closes a ring."""
    for place, chip in placed.items():
        for axis, (extent, side) in enumerate(zip(box.extents, fabric.sides, strict=True)):
            is_last = place[axis] == extent - 1
            if extent > 1 and (not is_last or extent == side):
                ahead = (*place[:axis], (place[axis] + 1) % extent, *place[axis + 1 :])
                yield axis, chip, placed[ahead], is_last


def _board(fabric: Torus, tile: Tile) -> tuple[int, Point]:
    """Server, and place of the board in it, of a chip."""
    assert fabric.boards is not None
    chip = chip_of(fabric, tile[1])
    return tile[0], tuple(at // side for at, side in zip(chip, fabric.boards.sides, strict=True))

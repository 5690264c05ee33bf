"""What chips forward over a shifted torus, and links that are missing."""

from itertools import product

import pytest

from costmodel.fabrics.line_shifts import LineShifts, load_line_shifts
from planner.checks.names import Tile
from planner.fabrics.slices.rule_boxes import Box, Placed, Point, neighbour
from planner.fabrics.slices.rule_shifted import over_weighted_ways

RING = LineShifts(
    name="ring", source="by hand", sides=(2, 2, 2), cubes=(3, 1, 1),
    x=(((1, 0, 0),),), y=(((0, 0, 0),),), z=(((0, 0, 0),),),
)  # fmt: skip
"""a plain torus of 6 x 2 x 2"""


def lying(shifts: LineShifts) -> tuple[Box, Placed]:
    """A box, and each place of it on a chip of a server of its own."""
    extents = tuple(side * cubes for side, cubes in zip(shifts.sides, shifts.cubes, strict=True))
    placed = {place: (number, 0) for number, place in enumerate(product(*map(range, extents)))}
    return Box(extents, {}, shifts=shifts), placed


def test_a_shift_to_the_next_cube_is_a_plain_torus() -> None:
    """Over a ring of 6: farthest 3 hops, where half goes either way; 6 / 8 of a byte on each link, and two short axes
    of a hop each, whose two links share 2 / 4 of a byte."""
    box, placed = lying(RING)
    found = over_weighted_ways(lambda a, b: 2.0, box, placed)
    assert found is not None
    assert found[0] == 5
    assert found[1] == pytest.approx(6 / 8)


def test_lines_of_two_places_lead_to_two_cubes() -> None:
    shifts = load_line_shifts("line-shifts-2x2x1-2x2x2")
    box, _ = lying(shifts)
    for y, z in product(range(2), repeat=2):
        a, b, c = shifts.x[y][z]
        assert neighbour((1, y, z), 0, box) == (2 * a % 4, (2 * b + y) % 4, (2 * c + z) % 2)
        assert neighbour((0, y, z), 0, box) == (1, y, z)


@pytest.mark.parametrize("place", [(0, 0, 0), (1, 1, 1)])
def test_a_link_that_is_missing_is_seen(place: Point) -> None:
    box, placed = lying(RING)
    lost = {placed[place], placed[neighbour(place, 0, box)]}

    def links(a: Tile, b: Tile) -> float:
        return 2.0 if {a, b} != lost else 0.0

    assert over_weighted_ways(links, box, placed) is None

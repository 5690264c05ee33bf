"""Boxes of cubes from circuits: what is joined in a ring along each axis, and nothing else."""

from collections.abc import Iterator
from itertools import product

import pytest

from planner.integrations.slices.boxes import CubeBox, Joint, boxes, cube_of, has_whole_cubes, joint

SHIFTS = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}


def box(sides: tuple[int, int, int], first: int = 0) -> Iterator[Joint]:
    """Circuits of a box of cubes, numbered row by row, all 16 chips of each + face joined to the next cube."""
    cells = list(product(*map(range, sides)))
    for cell, (axis, shift) in product(cells, SHIFTS.items()):
        after = tuple((at + step) % side for at, step, side in zip(cell, shift, sides, strict=True))
        for chip in range(16):
            yield Joint(f"s{first + cells.index(cell)}.c{chip}", f"s{first + cells.index(after)}.c{chip}", axis)  # type: ignore[arg-type]


@pytest.mark.parametrize("sides", [(1, 1, 1), (2, 1, 1), (1, 3, 2), (2, 2, 2)])
def test_a_box_is_found_from_its_circuits(sides: tuple[int, int, int]) -> None:
    joints = list(box(sides))
    cubes = list(dict.fromkeys(cube_of(each.source) for each in joints))
    (found,) = boxes("j", joints, cubes)
    assert found.extents == tuple(sorted(4 * side for side in sides))
    assert sorted(found.cubes) == cubes
    assert has_whole_cubes(joints)


def test_a_job_over_racks_has_a_box_in_each() -> None:
    joints = [*box((2, 1, 1)), *box((1, 1, 1), first=2)]
    assert boxes("j", joints, ["s0", "s1", "s2"]) == [CubeBox((4, 4, 8), ("s0", "s1")), CubeBox((4, 4, 4), ("s2",))]


def test_what_is_no_box_is_refused() -> None:
    joints = list(box((2, 1, 1)))
    for broken, said in (
        (joints[1:], "not of 4 x 4 x 4 chips"),
        ([each for each in joints if each.axis != "z"], "lacks circuits"),
        ([*joints, Joint("s0.c0", "s1.c0", "y")], "joins no cubes"),
        ([*joints, Joint("s0.c0", "s1.c0", "racks")], "joins no cubes"),
    ):
        with pytest.raises(ValueError, match=said):
            boxes("j", broken, ["s0", "s1"])


def test_circuits_inside_a_cube_make_none() -> None:
    assert not has_whole_cubes([joint("s0.c12", "s0.c0", ["y0"]), joint("s0.c13", "s0.c1", ["y1"])])
    assert not has_whole_cubes([])
    assert has_whole_cubes([joint("s0.c12", "s1.c0", ["y0"])]), "what joins cubes is to be judged"
    assert joint("s0.c0", "s1.c0", ["r1.z3"]).axis == "z"

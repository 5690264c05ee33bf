"""Boxes of a torus."""

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.costmodel.fabrics.torus_cases import Sides, cubes, job, torus


def test_an_axis_belongs_to_one_dimension() -> None:
    fabric = torus((4, 4, 2))
    assert fabric.combines(job(tensor=(4, 1, 1), data=(1, 4, 1)))
    assert not fabric.combines(job(tensor=(2, 1, 1), data=(2, 1, 1)))
    assert not fabric.combines(job(tensor=(4, 4, 1), data=(1, 1, 4)))
    assert fabric.combines(job(data=(2, 4, 1), context=(2, 1, 1), expert=(1, 4, 1)))
    assert not fabric.combines(job(data=(2, 4, 1), context=(1, 2, 1)))
    assert not fabric.combines(job(data=(2, 4, 1), context=(2, 1, 1), expert=(2, 1, 1)))


def test_boxes_that_are_alike_are_listed_once() -> None:
    fabric = torus((4, 4, 2))
    assert fabric.combines(job(tensor=(4, 1, 1), data=(1, 4, 1)))
    assert not fabric.combines(job(tensor=(1, 4, 1), data=(4, 1, 1)))
    assert fabric.combines(job(tensor=(1, 4, 1), data=(2, 1, 1)))
    whole = cubes()
    assert whole.combines(job(tensor=(4, 1, 1), data=(1, 2, 2)))
    assert not whole.combines(job(tensor=(1, 4, 1), data=(2, 1, 2)))
    assert not whole.combines(job(tensor=(4, 1, 1), data=(1, 2, 1)))
    assert not cubes(servers=2).combines(job(tensor=(4, 1, 1), data=(1, 4, 2)))


@given(st.tuples(*[st.integers(1, 4)] * 3), st.data())
@settings(max_examples=40)
def test_slices_are_the_boxes_at_every_origin(sides: Sides, data: st.DataObject) -> None:
    a, b, c = (data.draw(st.integers(1, side)) for side in sides)
    is_switched = min(sides) > 1 and data.draw(st.booleans())
    fabric = cubes(sides) if is_switched else torus(sides)
    expected = set()
    for origin in product(*map(range, sides)):
        far = [o + e for o, e in zip(origin, (a, b, c), strict=True)]
        if any(o and e == side for o, e, side in zip(origin, (a, b, c), sides, strict=True)):
            continue
        if is_switched and any(f > side for f, side in zip(far, sides, strict=True)):
            continue
        expected.add(tuple(
            (((o[0] % sides[0]) * sides[1] + o[1] % sides[1]) * sides[2] + o[2] % sides[2])
            for o in product(*(range(s, f) for s, f in zip(origin, far, strict=True)))
        ))  # fmt: skip
    found = fabric.slices((a, b, c))
    assert {each.slots for each in found} == expected
    assert len(found) == len(expected)
    assert all(each.mask == sum(1 << slot for slot in each.slots) for each in found)


def test_aligned_slices_come_first() -> None:
    assert [each.slots[0] for each in torus((4, 1, 1)).slices((2, 1, 1))] == [0, 2, 1, 3]

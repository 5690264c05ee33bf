"""Ranks of a job form a box that lies as the fabric allows."""

import pytest

from costmodel.parallelism.configuration import Configuration
from planner.checks import check
from tests.planner.checks.plans import assign, broken, edited, job, plan_of, relocated
from tests.planner.fabrics.slices.plans import CUBES, GOOD, box, chips, rotated, sliced, swapped, taking


@pytest.mark.parametrize("name", ["box", "rotated", "subcube", "parts"])
def test_ranks_have_their_places(name: str) -> None:
    instance, plan = GOOD[name]()
    assert "cut" in broken(instance, swapped(plan, name, 0, 1))


def test_devices_are_a_box() -> None:
    instance, plan = box()
    assert "cut" in broken(instance, relocated(plan, "box", s1_c20="s1.c19"))
    inner = chips(1, *((x, y, 2) for x in (0, 1, 2) for y in (0, 1)))
    assert broken(instance, edited(plan, "box", devices=tuple(inner.split()))) == set()
    tilted = chips(1, *((x, y, (2 + x) % 3) for x in (0, 1, 2) for y in (0, 1)))
    assert "cut" in broken(instance, edited(plan, "box", devices=tuple(tilted.split())))


def test_a_spanned_axis_starts_at_zero() -> None:
    instance, plan = rotated()
    shifted = chips(0, *(((x + 1) % 4, 1, z) for z in range(3) for x in range(4)))
    assert broken(instance, edited(plan, "rotated", devices=tuple(shifted.split()))) == {"cut"}


def test_boxes_of_cubes_do_not_cross_their_rims() -> None:
    sides = CUBES | {"sides": [3, 2, 2]}
    instance = sliced(sides, job("pair", 2))
    configuration = Configuration(data=2, block=2, data_collective=taking("bucket", 2, 1, 1))
    good = plan_of(instance, assign("pair", configuration, "s0.c4 s0.c8"))
    assert check(instance, good) == []
    assert broken(instance, edited(good, "pair", devices=("s0.c8", "s0.c0"))) == {"cut", "rounds"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "radices"),
    [
        ("plane", (2,)),
        ("plane", (2, 1)),
        ("plane", (2, 1, 1, 1)),
        ("plane", (1, 1, 7)),
        ("whole", (4, 4, 1)),
        ("subcube", (9,)),
        ("subcube", (3, 3, 3, 3)),
    ],
)
def test_extents_that_make_up_no_box(case: str, radices: tuple[int, ...]) -> None:
    instance, plan = GOOD[case]()
    collective = taking("bucket", *radices)
    for dimension in ("tensor", "data"):
        configuration = plan[case].configuration.model_copy(update={f"{dimension}_collective": collective})
        assert {"listed", "cut"} <= broken(instance, edited(plan, case, configuration=configuration))

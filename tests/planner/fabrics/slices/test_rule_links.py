"""Links of a slice, and exchanges along its axes."""

import pytest

from planner.checks.schedule import Schedule, ends_reduced
from planner.fabrics.slices.rule_links import rounds_of
from tests.planner.checks.plans import broken, edited, rewired
from tests.planner.fabrics.slices.plans import swapped, whole


def test_cubes_of_a_slice_are_joined_as_they_lie() -> None:
    instance, plan = whole()
    exchanged = tuple(
        name.replace("s3", "sX").replace("s1", "s3").replace("sX", "s1") for name in plan["whole"].devices
    )
    assert broken(instance, edited(plan, "whole", devices=exchanged)) == set()
    mixed = swapped(swapped(plan, "whole", 0, 2), "whole", 1, 3)
    assert {"cut", "switches"} <= broken(instance, mixed)
    crossed = rewired(plan, "whole", "s3.c4 s3.c0 0 x0", drop="s3.c4 s1.c0")
    assert {"switches", "rounds"} <= broken(instance, crossed)


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("ranks", range(2, 8))
def test_steps_along_an_axis_reduce_every_chunk_once(ranks: int, closed: bool) -> None:
    """A reduce-scatter and the same steps back, as an all-gather; the chunks of a rank are reduced there."""
    for joins_all in (False, True):
        forth = rounds_of(ranks, joins_all=joins_all, closed=closed)
        back = tuple(
            type(each)(0, tuple((b, a, chunks) for a, b, chunks in each.sends), adds=False) for each in reversed(forth)
        )
        assert ends_reduced(Schedule((*forth, *back), num_chunks=2 * ranks), ranks)
        assert all(joins_all or abs(a - b) in (1, ranks - 1) for each in forth for a, b, _ in each.sends)
        assert closed or joins_all or all(abs(a - b) == 1 for each in forth for a, b, _ in each.sends)

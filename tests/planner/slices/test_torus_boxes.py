"""Compact boxes of a torus come first."""

from planner.slices.torus_boxes import boxes, most_cubic


def test_compact_boxes_come_first() -> None:
    assert boxes((4, 4, 4), 8)[0] == (2, 2, 2)
    assert boxes((4, 4, 4), 5) == boxes((4, 4, 4), 6)
    assert boxes((4, 4, 4), 65) == ()
    assert [most_cubic(volume) for volume in (64, 256, 7, 12)] == [(4, 4, 4), (4, 8, 8), (1, 1, 7), (2, 2, 3)]

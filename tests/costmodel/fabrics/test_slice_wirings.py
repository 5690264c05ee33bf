"""Cubes that follow each other, and plans that go over one wiring."""

import pytest

from costmodel.fabrics import LinkPlan, PlanKind
from costmodel.fabrics.line_shifts import load_line_shifts
from costmodel.fabrics.slice_wirings import plain_or_twisted, shifted, wiring_of

SIDES = (2, 2, 2)


@pytest.mark.parametrize(
    ("kinds", "wiring"),
    [
        ((), "plain"),
        (("bucket", "routed", "none"), "plain"),
        (("twisted_bucket", "twisted"), "twisted"),
        (("shifted_direct", "shifted", "none"), "shifted"),
        (("shifted_direct",), None),
        (("shifted_direct", "twisted"), None),
        (("bucket", "shifted"), None),
    ],
)
def test_a_slice_is_wired_otherwise_for_an_all_to_all_alone(kinds: tuple[PlanKind, ...], wiring: str | None) -> None:
    assert wiring_of([LinkPlan(kind, 32) for kind in kinds]) == wiring


def test_the_last_cube_leads_to_the_first_and_twisted_further_on() -> None:
    servers = [7, 3, 5, 9]
    assert [*plain_or_twisted(servers, (4, 1, 1), SIDES, 0, {})((1, 0, 0))] == [3, 5, 9, 7]
    assert [*plain_or_twisted(servers, (4, 1, 1), SIDES, 1, {1: {0: 4}})((0, 1, 0))] == [5, 9, 7, 3]


def test_lines_of_a_face_lead_to_cubes_of_their_own() -> None:
    shifts = load_line_shifts("line-shifts-2x2x1-2x2x2")
    after = shifted([7, 3, 5, 9], shifts, 0)
    for y, row in enumerate(shifts.x):
        for z, (a, b, _) in enumerate(row):
            cubes = [[7, 3], [5, 9]]
            assert [*after((1, y, z))] == [cubes[(i + a) % 2][(j + b) % 2] for i in range(2) for j in range(2)]

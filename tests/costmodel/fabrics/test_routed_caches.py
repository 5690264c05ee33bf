"""Caches on the links of a slice: beside a count of every cache on every link, one by one."""

from fractions import Fraction
from itertools import permutations

import pytest

from costmodel.fabrics.routed_caches import Row, routed_caches

BOXES: list[tuple[tuple[int, Row], ...]] = [
    ((4, "ring"), (1, "line"), (1, "line")),
    ((5, "ring"), (1, "line"), (1, "line")),
    ((3, "line"), (2, "ring"), (1, "ring")),
    ((2, "ring"), (2, "line"), (3, "ring")),
    ((3, "joined"), (3, "joined")),
    ((4, "joined"),),
]


def ways(start: int, end: int, extent: int, row: Row) -> list[list[tuple[int, int]]]:
    """(place, direction or destination) of each step of the shortest ways along an axis."""
    if start == end:
        return [[]]
    if row == "joined":
        return [[(start, end)]]
    up = [((start + i) % extent, extent) for i in range((end - start) % extent)]
    down = [((start - i) % extent, extent + 1) for i in range((start - end) % extent)]
    if row == "line":
        return [up] if end > start else [down]
    return [way for way in (up, down) if len(way) == min(len(up), len(down))]


@pytest.mark.parametrize("axes", BOXES, ids=str)
def test_the_busiest_link_is_the_one_with_most_caches(axes: tuple[tuple[int, Row], ...]) -> None:
    ranks = 1
    for extent, _ in axes:
        ranks *= extent
    for prefill in range(1, ranks):
        decode = ranks - prefill
        worst, longest = Fraction(1), 0
        for order in permutations(range(len(axes))):
            places = []
            for replica in range(ranks):
                place, rest = [0] * len(axes), replica
                for axis in order:
                    rest, place[axis] = divmod(rest, axes[axis][0])
                places.append(place)
            met: dict[object, dict[tuple[str, int], Fraction]] = {}
            for a in range(prefill):
                for b in range(decode):
                    if max(a * decode, b * prefill) >= min((a + 1) * decode, (b + 1) * prefill):
                        continue
                    here, far = [*places[a]], 0
                    for axis, (extent, row) in enumerate(axes):
                        found = ways(here[axis], places[prefill + b][axis], extent, row)
                        far += len(found[0])
                        for step in (step for way in found for step in way):
                            at = met.setdefault((axis, tuple(here[:axis] + here[axis + 1 :]), step), {})
                            for end in (("from", a), ("to", b)):
                                at[end] = max(at.get(end, Fraction(0)), Fraction(1, len(found)))
                        here[axis] = places[prefill + b][axis]
                    longest = max(longest, far)
            for shares in met.values():
                sides = [sum(share for (end, _), share in shares.items() if end == side) for side in ("from", "to")]
                worst = max(worst, Fraction(min(sides)))
        found_here = routed_caches(prefill, decode, axes)
        assert (found_here.on_link, found_here.hops) == (float(worst), longest)
        assert 0 < found_here.mean_hops <= longest


def test_neighbours_hand_over_without_meeting() -> None:
    for extent in (2, 4, 8):
        assert routed_caches(extent // 2, extent // 2, ((extent, "ring"),)).on_link == (1.0 if extent < 8 else 2.0)
    assert routed_caches(4, 4, ((8, "line"),)).on_link == 4.0
    assert routed_caches(8, 8, ((4, "joined"), (4, "joined"))).on_link == 1.0

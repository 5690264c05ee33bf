"""Light of boards against every way to hand out wavelengths, chip by chip and link by link."""

import re
from collections import Counter
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from costmodel.fabrics import Torus
from costmodel.fabrics.boards import widths_of
from costmodel.fabrics.group_plans import NO_PLAN, GroupPlan
from costmodel.parallelism.mappings import Dimension
from tests.costmodel.fabrics.torus_cases import SWITCHES, Sides, torus

BOARDS = {"sides": [2, 2, 1]}


@st.composite
def fabrics(draw: st.DrawFn) -> Torus:
    sides = draw(st.sampled_from([(4, 4, 2), (2, 2, 2), (4, 2, 3), (4, 2, 1)]))
    link = draw(st.integers(1, 2))
    fiber = draw(st.one_of(st.none(), st.integers(link, 3 * link)))
    boards = BOARDS | {"wavelengths_per_link": link, "wavelengths_per_fiber": fiber}
    joined: dict[str, Any] = {"switches": SWITCHES} if min(sides) > 1 and draw(st.booleans()) else {}
    return torus(sides, boards=boards, **joined)


def links_of(fabric: Torus, box: Sides) -> list[tuple[Sides, Sides, int, bool]]:
    """Links of a box at the origin: ends, axis, and whether it leaves its board."""
    found = []
    for chip in product(*map(range, box)):
        for axis, (extent, side) in enumerate(zip(box, fabric.sides, strict=True)):
            ahead = chip[axis] + 1
            if extent > 1 and (ahead < extent or extent == side):
                other = tuple(ahead % extent if i == axis else place for i, place in enumerate(chip))
                here, there = ([place // on for place, on in zip(c, (2, 2, 1), strict=True)] for c in (chip, other))
                leaves = here != there or (ahead == extent and fabric.switches is not None)
                found.append((chip, other, axis, leaves))
    return found  # type: ignore[return-value]


def possible(fabric: Torus, box: Sides, widths: tuple[int, ...]) -> bool:
    """Whether chips and fibers can carry so many wavelengths on the links along each axis."""
    assert fabric.boards is not None
    sent: Counter[Sides] = Counter()
    for chip, other, axis, leaves in links_of(fabric, box):
        if leaves and widths[axis] > fabric.boards.off_board:
            return False
        sent.update({chip: widths[axis], other: widths[axis]})
    return max(sent.values(), default=0) <= 6 * fabric.boards.wavelengths_per_link


def jobs_of(fabric: Torus, tensor: int, data: int, names: tuple[Dimension, Dimension]) -> list[list[GroupPlan]]:
    """Plans offered together to a job of two dimensions inside a server."""
    order = ("tensor", "pipeline", "data", "context", "expert")
    ranks = dict(zip(names, (tensor, data), strict=True))
    menus = [fabric.plans(d, ranks[d], one_server=True) if d in ranks else (NO_PLAN,) for d in order]  # type: ignore[index]
    places = fabric.combinations(menus, [True] * 5)
    return [[menu[place] for menu, place in zip(menus, each, strict=True)] for each in places]


def _kinds(plans: list[GroupPlan]) -> object:
    return tuple((plan.kind, plan.radices) for plan in plans)


PAIRS: list[tuple[Dimension, Dimension]] = [("tensor", "data"), ("tensor", "pipeline"), ("pipeline", "expert")]


@settings(max_examples=25)
@given(fabrics(), st.sampled_from([1, 2, 4]), st.sampled_from([2, 3, 4]), st.sampled_from(PAIRS))
def test_offered_wavelengths_are_all_that_leave_nothing_idle(
    fabric: Torus, tensor: int, data: int, names: tuple[Dimension, Dimension]
) -> None:
    """A chip's wavelengths are conserved, no link has less than on a plain torus, and no link could have one more."""
    assert fabric.boards is not None
    least = fabric.boards.wavelengths_per_link
    found: dict[Sides, set[tuple[int, ...]]] = {}
    for plans in jobs_of(fabric, tensor, data, names):
        widths = widths_of(plans)
        assert widths is not None
        of_box = found.setdefault(fabric.box(plans), set())
        of_box.update([widths] if widths else [])
    for box, offered in found.items():
        used = [range(least, 6 * least + 1) if extent > 1 else (1,) for extent in box]
        every = {widths for widths in product(*used) if possible(fabric, box, widths)}
        full = {
            widths
            for widths in every
            if max(widths) > least
            and all(
                extent == 1 or (*widths[:axis], widths[axis] + 1, *widths[axis + 1 :]) not in every
                for axis, extent in enumerate(box)
            )
        }
        assert offered == full


@settings(max_examples=25)
@given(fabrics(), st.sampled_from([1, 2, 4]), st.sampled_from([2, 3, 4]), st.sampled_from(PAIRS))
def test_redirecting_never_lowers_throughput(
    fabric: Torus, tensor: int, data: int, names: tuple[Dimension, Dimension]
) -> None:
    """No message takes longer than on a plain torus, and each choice there has one over light where a link may gain."""
    plain: dict[object, list[GroupPlan]] = {}
    lit: dict[object, list[list[GroupPlan]]] = {}
    for plans in jobs_of(fabric, tensor, data, names):
        if widths_of(plans):
            lit.setdefault(_kinds(plans), []).append(plans)
        else:
            plain[_kinds(plans)] = plans
    for choice, found in lit.items():
        if choice in plain:
            for plans in found:
                for plan, before in zip(plans, plain[choice], strict=True):
                    assert plan.latency_s == before.latency_s
                    assert plan.seconds_per_byte <= before.seconds_per_byte * (1 + 1e-12)
                    assert plan.seconds_per_byte >= plan.wired_seconds_per_byte * (1 - 1e-12)
    assert fabric.boards is not None
    for choice, plans in plain.items():
        box, least = fabric.box(plans), fabric.boards.wavelengths_per_link
        one_more = [
            tuple(least + (i == axis) if extent > 1 else 1 for i, extent in enumerate(box))
            for axis in range(3)
            if box[axis] > 1
        ]
        assert (choice in lit) == any(possible(fabric, box, widths) for widths in one_more)


@given(fabrics(), st.tuples(st.integers(1, 4), st.integers(1, 4), st.integers(1, 2)))
def test_slices_for_light_lie_on_boards(fabric: Torus, extents: Sides) -> None:
    a, b, c = (min(extent, side) for extent, side in zip(extents, fabric.sides, strict=True))
    every, lit = fabric.slices((a, b, c)), fabric.slices((a, b, c, 1))
    expected = []
    for each in every:
        chips = [(s // (fabric.sides[1] * fabric.sides[2]), s // fabric.sides[2] % fabric.sides[1]) for s in each.slots]
        on = [len({chip[axis] // 2 for chip in chips}) for axis in range(2)]
        if (a > 2 or on[0] == 1) and (b > 2 or on[1] == 1):
            expected.append(each)
    assert [*lit] == expected
    assert lit


def test_a_job_on_boards_is_found_again_on_its_slice_alone() -> None:
    fabric = torus(boards=BOARDS)
    plans = next(p for p in jobs_of(fabric, 2, 2, ("tensor", "data")) if widths_of(p) == (3, 3, 1))
    assert fabric.cut(plans) == (2, 2, 1, 1)
    for slots in (each.slots for each in fabric.slices(fabric.cut(plans))):
        assert fabric.held(plans, fabric.layout(plans, [(0, slots)])) == [(0, slots)]
    across = next(each.slots for each in fabric.slices((2, 2, 1)) if each not in fabric.slices((2, 2, 1, 1)))
    assert fabric.held(plans, fabric.layout(plans, [(0, across)])) is None


def test_fibers_with_room_need_no_board() -> None:
    """Nor does a job that leaves no link idle get any light."""
    fabric = torus(boards=BOARDS | {"wavelengths_per_fiber": 2})
    lit = [plans for plans in jobs_of(fabric, 4, 4, ("tensor", "data")) if fabric.box(plans) == (4, 4, 1)]
    assert {(widths_of(plans), fabric.cut(plans)) for plans in lit} == {
        ((), (4, 4, 1)), ((2, 1, 1), (4, 4, 1)), ((1, 2, 1), (4, 4, 1)),
    }  # fmt: skip


def test_boards_set_their_light_before_jobs_start() -> None:
    assert torus(boards=BOARDS | {"reconfiguration": "5 us"}).stage_s == pytest.approx(6e-6)
    assert torus().stage_s == 0


@pytest.mark.parametrize(
    ("boards", "message"),
    [
        ({"sides": [3, 2, 1]}, "boards.sides: boards of [3, 2, 1] do not make up [4, 4, 4]; give divisors of each"),
        ({"sides": [2, 2, 0]}, "boards.sides: boards of [2, 2, 0] do not make up [4, 4, 4]"),
        (
            BOARDS | {"wavelengths_per_link": 2, "wavelengths_per_fiber": 1},
            "1 is out of range; give 2 (those of a link",
        ),
        (BOARDS | {"wavelengths_per_fiber": 7}, "boards.wavelengths_per_fiber: 7 is out of range; give 1"),
    ],
)
def test_boards_that_cannot_be_are_refused(boards: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=re.escape(message)):
        torus(boards=boards)

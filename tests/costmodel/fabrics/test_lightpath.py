"""Geometry, names, fibers and validation of both fabrics."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from costmodel.counts import MOST_FIBERS
from costmodel.fabrics import NO_PLAN
from tests.costmodel.fabrics.lightpath_cases import lightpath

grids = st.tuples(st.integers(1, 4), st.integers(1, 8))


@pytest.mark.slow
@given(grids, st.data())
def test_light_runs_along_the_row_then_along_the_column(grid: tuple[int, int], data: st.DataObject) -> None:
    rows, columns = grid
    tiles = rows * columns
    fabric = lightpath(tiles_per_server=tiles, tile_rows=rows)
    a, b = data.draw(st.integers(0, tiles - 1)), data.draw(st.integers(0, tiles - 1))
    path = fabric.segments(1, a, b)
    row_of, column_of = (lambda t: t // columns), (lambda t: t % columns)
    assert len(path) == abs(row_of(a) - row_of(b)) + abs(column_of(a) - column_of(b))
    here, is_in_column = a, False
    for server, source, destination in path:
        assert (server, source) == (1, here)
        steps = abs(row_of(source) - row_of(destination)), abs(column_of(source) - column_of(destination))
        assert steps in ((0, 1), (1, 0))
        assert not (is_in_column and steps == (0, 1))
        is_in_column = steps == (1, 0)
        here = destination
    assert here == b


def test_a_path_by_hand() -> None:
    """Slots lie as 0 1 2 over 3 4 5."""
    fabric = lightpath(tiles_per_server=6, tile_rows=2)
    assert fabric.segments(0, 0, 5) == ((0, 0, 1), (0, 1, 2), (0, 2, 5))
    assert fabric.segments(0, 5, 0) == ((0, 5, 4), (0, 4, 3), (0, 3, 0))
    assert fabric.segments(0, 4, 4) == ()


def test_fibers_join_each_ordered_pair_of_one_rack() -> None:
    fabric = lightpath(racks=2, fibers=3)
    assert [fabric.num_fibers(0, other) for other in range(4)] == [0, 3, 0, 0]
    assert fabric.fiber_name(2, 3, 1) == "r1.s0>r1.s1#1"
    assert [lightpath().fiber_slot(i) for i in (0, 3, 4, 9)] == [0, 3, 0, 1]


def test_bundles_are_one_way() -> None:
    fabric = lightpath(fibers=[{"from": "s0", "to": "s1", "count": 2}])
    assert (fabric.num_fibers(0, 1), fabric.num_fibers(1, 0)) == (2, 0)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tile_rows": 3}, "tile_rows: 3 must divide tiles_per_server 4"),
        ({"fibers": -1}, "greater than or equal to 0"),
        ({"fibers": MOST_FIBERS + 1}, "less than or equal to 4096"),
        ({"fibers": 10**30}, "less than or equal to 4096"),
        ({"fibers": [{"from": "s0", "to": "s1", "count": MOST_FIBERS + 1}]}, "less than or equal to 4096"),
        ({"fibers": [{"from": "s0", "to": "s0", "count": 1}]}, "two servers of one rack"),
        ({"fibers": [{"from": "s0", "to": "s9", "count": 1}]}, "no server 's9'"),
        ({"fibers": 2 * [{"from": "s0", "to": "s1", "count": 1}]}, "given twice"),
        (
            {"racks": 2, "fibers": [{"from": "r0.s0", "to": "r1.s0", "count": 1}]},
            "two servers of one rack",
        ),
        ({"tiles_per_server": 33}, "less than or equal to 32"),
        ({"wavelength_bandwidth": 0}, "greater than 0"),
        ({"max_peers": 0}, "greater than or equal to 1"),
        ({"transit": 5}, "less than or equal to 4"),
        ({"waveguides": "none"}, "dedicated"),
        ({"colour": "red"}, "Extra inputs"),
    ],
)
def test_bad_lightpaths(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        lightpath(**changes)


@pytest.mark.parametrize(("budget", "matters"), [(None, False), ("2 dB", False), ("1.99 dB", True), (0, True)])
def test_slots_matter_where_some_path_is_too_long(budget: Any, matters: bool) -> None:
    """2 x 2 tiles: two boundaries at most on either side at 0.25 dB, and 1 dB of fiber."""
    fabric = lightpath(tile_rows=2, loss_per_tile="0.25 dB", loss_per_fiber="1 dB", loss_budget=budget)
    assert fabric.slots_matter == matters
    assert fabric.loss_db(4, 1) == 2.0
    assert lightpath(waveguides="shared").slots_matter


@pytest.mark.parametrize(("budget", "hops", "matters"), [(None, 3, False), ("5 dB", 3, False), ("4.9 dB", 3, True),
                                                         ("2 dB", 2, True), ("0.9 dB", 0, False)])  # fmt: skip
def test_loss_of_fibers_limits_the_servers_that_are_crossed(budget: Any, hops: int, matters: bool) -> None:
    """2 x 2 tiles: two boundaries of 0.25 dB at most in each of four servers, and three fibers of 1 dB."""
    fabric = lightpath(
        servers=4, tile_rows=2, transit=2, loss_per_tile="0.25 dB", loss_per_fiber="1 dB", loss_budget=budget
    )
    assert fabric.most_hops == hops
    assert fabric.slots_matter == matters


def test_light_walks_through_crossed_servers() -> None:
    """Slots lie as 0 1 2 over 3 4 5: fiber 1 enters at slot 1, fiber 3 leaves at slot 3."""
    fabric = lightpath(servers=3, tiles_per_server=6, tile_rows=2, fibers=4, transit=1)
    route = fabric.route(0, ["s0>s1#1", "s1>s2#3"], 2)
    assert route == ((0, 1, 1), (1, 2, 3))
    inside = ((1, 1, 0), (1, 0, 3))
    assert fabric.crossed((0, 4), route, (2, 4)) == ((0, 4, 1), *inside, (2, 3, 4))
    assert fabric.route(1, [], 1) == ()


@pytest.mark.parametrize(
    ("names", "transit"),
    [
        (["s0>s1#0", "s1>s2#0"], 0),
        (["s0>s1#0", "s1>s0#0", "s0>s2#0"], 2),
        (["s1>s2#0", "s0>s1#0"], 1),
        (["s0>s1#0"], 1),
        ([], 1),
        (["s0>s2#9"], 1),
        (["s0-s2"], 1),
    ],
)
def test_fibers_that_lead_nowhere(names: list[str], transit: int) -> None:
    with pytest.raises(ValueError, match="fiber"):
        lightpath(servers=3, transit=transit).route(0, names, 2)


def test_context_is_reduced_in_halves_and_experts_are_sent_to() -> None:
    for dimension in ("context", "expert"):
        assert [*lightpath().plans(dimension, 1, one_server=True)] == [NO_PLAN]
    for ranks in (2, 3, 8):
        reduced, halves = (lightpath().plans(name, ranks, one_server=False) for name in ("data", "context"))
        single = {plan for plan in reduced if plan.kind in ("ring", "radix") and len(plan.configurations()) == 1}
        assert {*halves} == single != set()
        sent = lightpath().plans("expert", ranks, one_server=False)
        assert {plan.kind for plan in sent} <= {"direct", "bruck"}
        assert min(plan.seconds_per_byte for plan in sent) >= (ranks - 1) / ranks / (16 * 18.75e9) * 0.999

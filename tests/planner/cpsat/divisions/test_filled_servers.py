"""Servers filled with parts by name and with others, against every way to pack them."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ortools.sat.python import cp_model

from planner.cpsat.divisions.filled_servers import FilledServers
from planner.formulation.relaxation import relaxed
from planner.formulation.solver import new_solver
from planner.formulation.step_two import FOUND


def packs(rooms: Sequence[int], others: Sequence[int]) -> bool:
    """Whether these parts fit, by trying every server for each."""
    if not others:
        return True
    first, *rest = others
    return any(
        packs([*rooms[:i], room - first, *rooms[i + 1 :]], rest) for i, room in enumerate(rooms) if room >= first
    )


@settings(max_examples=60, deadline=None)
@given(
    rooms=st.lists(st.integers(0, 5), min_size=1, max_size=3),
    named=st.lists(st.tuples(st.integers(1, 4), st.integers(0, 2)), max_size=3),
    others=st.lists(st.integers(1, 4), max_size=4),
    is_tight=st.booleans(),
)
def test_parts_fill_servers_exactly_where_they_fit(
    rooms: list[int], named: list[tuple[int, int]], others: list[int], is_tight: bool
) -> None:
    named = [(ranks, server % len(rooms)) for ranks, server in named]
    cp = cp_model.CpModel()
    parts = {(j, ranks, server): cp.new_constant(1) for j, (ranks, server) in enumerate(named)}
    wanted = {ranks: [others.count(ranks)] for ranks in others}
    FilledServers(cp, dict(enumerate(rooms)), parts, wanted, is_tight=is_tight)
    left = [room - sum(ranks for ranks, on in named if on == server) for server, room in enumerate(rooms)]
    expected = min(left) >= 0 and packs(left, others)
    assert (new_solver().solve(cp) in FOUND) == expected


@pytest.mark.parametrize(("sizes", "most"), [((2, 4), 6.0), ((3,), 6.0), ((1, 4), 7.0), ((5,), 5.0)])
def test_relaxation_knows_what_parts_of_some_sizes_fill(sizes: tuple[int, ...], most: float) -> None:
    """Of seven devices."""
    cp = cp_model.CpModel()
    parts = {(j, ranks, 0): cp.new_bool_var("") for j in range(7) for ranks in sizes}
    FilledServers(cp, {0: 7}, parts, {}, is_tight=True)
    cp.maximize(sum(ranks * literal for (_, ranks, _), literal in parts.items()))
    found = relaxed(cp, 10.0)
    assert found is not None
    assert -found.least == pytest.approx(most)

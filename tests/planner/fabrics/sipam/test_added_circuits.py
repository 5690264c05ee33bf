"""Rails of circuits beside those that are on: these stay, and no rank sends or receives twice on a rail."""

from collections import Counter

import pytest

from planner.fabrics.lit import NOTHING_LIT
from planner.fabrics.sipam.added_circuits import AddedCircuits, asked_circuits
from planner.fabrics.sipam.server_pool import rack_of
from planner.model.plan import Circuit
from tests.planner.controller.sites import controller, remember_kinds, request
from tests.planner.fabrics.sipam.tiny_pools import TINY

remember_kinds()


def of_all_pairs(
    kept: dict[tuple[int, int], int], memory: frozenset[int] = frozenset()
) -> dict[tuple[int, int], tuple[int, ...]] | None:
    """Rails of a circuit from each of four ranks in a server to each other, of which some are on; the first way."""
    c = controller("sipam", **TINY)
    wanted = request("all", 4)
    c.prepare(wanted)
    rows = c._durable.kinds[c._durable.kinds.name(wanted)].rows
    demand = next(row.shape for row in rows if len(asked_circuits(row.shape, NOTHING_LIT)) == 12)
    asked, on = asked_circuits(demand, NOTHING_LIT), list[Circuit]()
    for (source, to), rail in kept.items():
        on.append(Circuit(source=f"s0.a{source}", destination=f"s0.a{to}", wavelengths=(rail,)))
    alike = [((None, *ends, 1), circuit) for ends, circuit in zip(kept, on, strict=True)]
    search = AddedCircuits(demand, asked, [0] * 4, {0: rack_of(c.cluster, 0)}, alike, {(None, 0): memory})
    found = next(search.run(), None)
    return found and {(asked[each.number].source, asked[each.number].destination): each.rails for each in found}


@pytest.mark.parametrize("kept", [{}, {(0, 1): 3, (1, 0): 3}, {(0, 1): 0, (1, 0): 4}, {(0, 1): 2, (2, 3): 2}])
def test_what_is_on_stays_and_others_come_beside_it(kept: dict[tuple[int, int], int]) -> None:
    """A circuit that is on may have another colour than it would have been given: both ways of a pair share a rail."""
    found = of_all_pairs(kept)
    assert found is not None
    assert len(found) == 12
    assert all(found[ends] == (rail,) for ends, rail in kept.items())
    sent = Counter((source, rail) for (source, _), rails in found.items() for rail in rails)
    received = Counter((to, rail) for (_, to), rails in found.items() for rail in rails)
    assert {*sent.values()} == {*received.values()} == {1}
    assert len({rail for rails in found.values() for rail in rails}) == 3


def test_rails_with_memory_are_left_alone() -> None:
    """Three rails are needed: of five that work two carry memory, or three."""
    assert {rail for rails in (of_all_pairs({}, frozenset({0, 1})) or {}).values() for rail in rails} == {2, 3, 4}
    assert of_all_pairs({}, frozenset({0, 1, 2})) is None

"""Parts that fit are those of a count from nothing, however many changes lie between two questions."""

from hypothesis import given, settings
from hypothesis import strategies as st

from planner.fabrics.search import Strategy
from planner.fabrics.sipam.server_rooms import AskedPart, ServerCounts, ServerRooms
from planner.heuristics.strategies import aligned, in_order, tightest

NUM_SERVERS, PER_RACK = 6, 3
AMOUNTS = st.integers(0, 12)
PARTS = st.builds(AskedPart, st.integers(1, 4), st.integers(0, 4), st.integers(1, 3), st.booleans())
CHANGES = st.lists(st.tuples(st.integers(0, NUM_SERVERS - 1), AMOUNTS, AMOUNTS, AMOUNTS, AMOUNTS), max_size=9)


def fits(part: AskedPart, lit: int, every: int, units: int, ports: int) -> int:
    """The most parts of a server, one by one."""
    number, devices = 0, every if part.is_single else lit
    while devices >= part.devices and (not part.units or (units >= part.units and ports >= part.io)):
        number, devices, units, ports = number + 1, devices - part.devices, units - part.units, ports - part.io
    return number


@settings(max_examples=150, deadline=None)
@given(parts=st.lists(PARTS, min_size=1, max_size=3), steps=st.lists(st.tuples(CHANGES, st.integers(0, 2)), max_size=8))
def test_parts_that_fit_are_counted_as_from_nothing(
    parts: list[AskedPart], steps: list[tuple[list[tuple[int, int, int, int, int]], int]]
) -> None:
    lists = [[7] * NUM_SERVERS for _ in range(4)]
    rooms = ServerRooms(ServerCounts(*lists), PER_RACK)
    for changes, asked in steps:
        for server, *amounts in changes:
            for numbers, amount in zip(lists, amounts, strict=True):
                numbers[server] = amount
            rooms.changed([server])
        part = parts[asked % len(parts)]
        expected = [fits(part, *numbers) for numbers in zip(*lists, strict=True)]
        by_rack = [sum(expected[:PER_RACK]), sum(expected[PER_RACK:])]
        found = rooms.of(part)
        assert (found.by_server, found.by_rack, found.most) == (expected, by_rack, max(by_rack))


@settings(max_examples=150, deadline=None)
@given(
    part=PARTS,
    steps=st.lists(st.tuples(CHANGES, st.sampled_from([aligned, in_order, tightest]), st.integers(1, 9)), max_size=12),
)
def test_ways_to_spread_are_those_of_the_strategy_whatever_was_refused_before(
    part: AskedPart,
    steps: list[tuple[list[tuple[int, int, int, int, int]], Strategy, int]],
) -> None:
    lists, racks = [[7] * NUM_SERVERS for _ in range(4)], [range(PER_RACK), range(PER_RACK, NUM_SERVERS)]
    rooms = ServerRooms(ServerCounts(*lists), PER_RACK)
    for changes, strategy, parts in steps:
        for server, *amounts in changes:
            for numbers, amount in zip(lists, amounts, strict=True):
                numbers[server] = amount
            rooms.changed([server])
        most, room = max(7 // part.devices, 1), [fits(part, *numbers) for numbers in zip(*lists, strict=True)]
        expected = [blocks for servers in racks for blocks in strategy(room, servers, parts, most)]
        assert not (expected and rooms.of(part).is_refused(strategy, parts, most))
        assert [*rooms.of(part).spreads(racks, strategy, parts, most)] == expected
        assert rooms.of(part).is_refused(strategy, parts, most) == (not expected)

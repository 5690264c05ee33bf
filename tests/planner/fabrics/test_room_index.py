"""An index over servers finds what a look at every server finds."""

from hypothesis import given, settings
from hypothesis import strategies as st

from planner.fabrics.room_index import Room, ServersByCount
from planner.heuristics.strategies import aligned, in_order, tightest

MOST = 8
COUNTS = st.lists(st.integers(0, MOST), min_size=1, max_size=12)
CHANGES = st.lists(st.tuples(st.integers(0, 11), st.integers(0, MOST)), max_size=20)


@settings(deadline=None)
@given(COUNTS, CHANGES, st.integers(1, 4), st.integers(1, 20))
def test_policies_take_the_same_servers(
    counts: list[int], changes: list[tuple[int, int]], part: int, blocks: int
) -> None:
    servers, most, every = ServersByCount(counts, MOST), MOST // part, range(len(counts))
    for server, count in changes:
        counts[server % len(counts)] = count
        servers.changed(server % len(counts))
        room, plain = Room(servers, part), [count // part for count in counts]
        assert list(room) == plain
        assert list(in_order(room, every, blocks, most)) == list(in_order(plain, every, blocks, most))
        assert list(aligned(room, every, blocks, most)) == list(aligned(plain, every, blocks, most))
        mine, theirs = list(tightest(room, every, blocks, most)), list(tightest(plain, every, blocks, most))
        assert bool(mine) == bool(theirs)
        assert all(sum(taken for _, taken in spread) == blocks for spread in mine)
        assert all(taken <= min(plain[server], most) for spread in mine for server, taken in spread)
        assert [len(spread) for spread in mine[:1]] == [len(spread) for spread in theirs[:1]]


@given(COUNTS)
def test_servers_of_a_number_come_in_order_and_once(counts: list[int]) -> None:
    servers = ServersByCount(counts, MOST)
    for number in range(MOST + 1):
        found = []
        while (server := servers.pop(number)) is not None:
            found.append(server)
        assert found == [server for server, count in enumerate(counts) if count == number]

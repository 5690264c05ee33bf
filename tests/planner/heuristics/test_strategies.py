"""Strategies of placement by hand: whole servers first, least room left, blocks dealt out over several."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from planner.heuristics.standing import PARTS
from planner.heuristics.strategies import over_evenly, scattered
from planner.model.instance import Instance
from planner.pipeline import solve
from tests.planner.small_racks import rack, serving, single


def test_server_aligned_takes_whole_servers_and_one_remainder() -> None:
    data = rack(serving("small", 1), serving("x", 6), servers=3)
    result = solve(Instance.parse(data), policy="server_aligned")
    assert result.plan is not None
    servers = [name[:2] for name in result.plan["x"].devices]
    assert sorted(servers.count(s) for s in set(servers)) == [2, 4]
    assert "s0" not in [s for s in set(servers) if servers.count(s) == 4]


def test_best_fit_leaves_the_least_room() -> None:
    residents = [single("r", "s1.t0", movable=False)]
    result = solve(Instance.parse(rack(serving("x", 3), residents=residents)), policy="best_fit")
    assert result.plan is not None
    assert {name[:2] for name in result.plan["x"].devices} == {"s1"}


@given(
    rooms=st.lists(st.integers(0, 9), min_size=1, max_size=9),
    blocks=st.integers(1, 20),
    most=st.integers(1, 9),
    seed=st.integers(0, 9),
)
def test_spreads_deal_out_all_blocks_within_the_room(rooms: list[int], blocks: int, most: int, seed: int) -> None:
    servers = range(len(rooms))
    for strategy in (over_evenly(PARTS), scattered(Random(seed), PARTS)):
        for spread in strategy(rooms, servers, blocks, most):
            on, counts = [server for server, _ in spread], [count for _, count in spread]
            assert sum(counts) == blocks
            assert sorted(set(on)) == on
            assert all(0 < count <= min(most, rooms[server]) for server, count in spread)


@given(blocks=st.integers(2, 40), servers=st.integers(2, 9))
def test_blocks_are_dealt_over_every_number_of_servers_with_room(blocks: int, servers: int) -> None:
    spreads = over_evenly(PARTS)([blocks] * servers, range(servers), blocks, blocks)
    dealt = {len(spread): [count for _, count in spread] for spread in spreads}
    assert set(dealt) == {1, *(number for number in PARTS if number <= min(blocks, servers))}
    assert all(max(counts) - min(counts) <= 1 for counts in dealt.values())

"""Strategies of placement by hand: whole servers first, least room left."""

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

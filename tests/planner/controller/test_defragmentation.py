"""Room is made by the fewest moves that pay."""

import pytest

from planner.controller import Move, Start, scheduling_cycle
from tests.oracles.controller import World
from tests.planner.controller.per_server_cases import even, given
from tests.planner.controller.sites import controller, request, started


def test_room_is_made_by_the_fewest_moves_that_pay() -> None:
    """Consolidation is not drastic: one job moves where one move suffices."""
    c = controller("fat_tree", {"downtime_s": 5})
    for server in range(4):
        c.submit_all([request(f"a{server}", 2), request(f"b{server}", 6)])
    for server in range(4):
        c.finish(f"b{server}")
    decisions = c.submit(request("whole", 8, constraints={"one_server": True}))
    moves = [decision for decision in decisions if isinstance(decision, Move)]
    assert len(moves) == 1
    assert len(moves[0].devices) == 2
    assert started(decisions) == ["whole"]
    assert c.check() == []


def test_nothing_moves_where_that_costs_more_than_waiting() -> None:
    """The jobs in the way end in ten seconds; to move one costs two accelerators a minute."""
    c = controller("fat_tree", {"downtime_s": 60})
    for server in range(4):
        c.submit_all([request(f"a{server}", 2, duration_s=10), request(f"b{server}", 6)], at_s=0)
    for server in range(4):
        c.finish(f"b{server}", at_s=1)
    decisions = c.submit(request("whole", 8, constraints={"one_server": True}), at_s=2)
    assert not [decision for decision in decisions if isinstance(decision, Move)]
    assert c.replan(1.0, at_s=3) == ()
    c.finish("a2", at_s=9)
    assert "whole" in c.running


def test_nothing_moves_where_nobody_waits() -> None:
    c = controller("fat_tree")
    for i in range(8):
        c.submit(request(f"j{i}", 4))
    for i in range(0, 8, 2):
        c.finish(f"j{i}")
    before = c.seq
    assert c.replan(1.0) == ()
    assert c.seq == before


def test_who_starts_late_still_goes_elsewhere_for_free(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same, one job after the other: three have just started when the fourth needs what two of them were given."""
    monkeypatch.setattr(scheduling_cycle, "start_batch", lambda state, names, deadline_s: (False, frozenset()))
    c, world = controller("fat_tree", {"downtime_s": 1}), World()
    for name, size in (("full", 8), ("four", 4), ("one", 1), ("six", 6)):
        assert world.carry_out(c.submit(request(name, size, movable=False)), set()) == []
    batch = [request("a", 1), request("b", 2), request("c", 2), request("whole", 8, constraints={"one_server": True})]
    decisions = c.submit_all(batch, at_s=5)
    assert c.counts.moves == 2
    assert world.carry_out(decisions, set()) == []
    assert sorted(started(decisions)) == ["a", "b", "c", "whole"]
    assert {job["pause_s"] for job in c.state()["jobs"]} == {0.0}


def test_neighbours_move_to_leave_room_on_enough_servers() -> None:
    """Four free on one server and one on another: a single rank moves so that both have two."""
    c = controller("fat_tree", {"downtime_s": 1, "preempts": False})
    for i, size in enumerate((8, 8, 4, 6, 1)):
        c.submit(request(f"j{i}", size, constraints={"one_server": True}))
    decisions = c.submit(even("even", 2, 2))
    moves = [decision for decision in decisions if isinstance(decision, Move)]
    assert [d.job for d in decisions if isinstance(d, Start)] == ["even"]
    assert given(c.running["even"].device_names) == {2}
    assert [move.job for move in moves] == ["j4"]
    assert c.check() == []

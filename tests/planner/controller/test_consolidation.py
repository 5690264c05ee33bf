"""Defragmentation is proposed with its price, and carried out as it was accepted or not at all."""

import pytest

from planner.controller import Controller, Move, Start
from planner.model.errors import ConflictError
from tests.planner.controller.sites import controller, request


def scattered(**settings: object) -> Controller:
    """Two accelerators are taken on each of four servers of eight."""
    site = controller("fat_tree", {"downtime_s": 10.0, "expected_wait_s": 3600.0, **settings})
    for server in range(4):
        site.submit_all([request(f"keep{server}", 2), request(f"gone{server}", 6)])
    for server in range(4):
        site.finish(f"gone{server}")
    assert len({place.servers for place in site.running.values()}) == 4
    return site


def test_what_pays_is_proposed_and_nothing_moves() -> None:
    with scattered() as site:
        before, seq = site.state(), site.seq
        found = site.propose(5.0)
        assert len(found.moves) == 3
        assert found.free == 24
        assert (found.fragmented_before, found.fragmented_after) == (pytest.approx(4.8, abs=8), 0)
        assert found.fragmented_before > 0
        assert found.cost_s == 10.0 * 6
        assert found.gain_s == pytest.approx(found.fragmented_before * 3600.0)
        assert (site.state(), site.seq) == (before, seq)
        assert site.propose(5.0).name == found.name


def test_drained_servers_are_neither_emptied_nor_counted() -> None:
    """A full cluster, of which a server is drained that then loses three of its four jobs: the last one would fill the
    only hole that others can have."""
    with controller("fat_tree", {"moves": False, "downtime_s": 5.0}) as site:
        for number in range(16):
            site.submit(request(f"j{number}", 2))
        site.drain("s0")
        of_s0, of_s1 = ([job for job, place in site.running.items() if place.servers == (s,)] for s in (0, 1))
        for job in (*of_s0[1:], of_s1[0]):
            site.finish(job)
        found = site.propose(5.0)
        assert (found.free, found.moves) == (2, ())
        assert [each.job for each in site.submit(request("next", 2)) if isinstance(each, Start)] == ["next"]


def test_what_is_accepted_is_carried_out_once() -> None:
    with scattered() as site:
        found = site.propose(5.0)
        decisions = site.consolidate(found.name, key="k")
        assert {each.job for each in decisions if isinstance(each, Move)} == {move.job for move in found.moves}
        assert {move.job: site.running[move.job] for move in found.moves} == {m.job: m.place for m in found.moves}
        assert site.check() == []
        assert site.consolidate(found.name, key="k") == decisions
        assert site.propose(5.0).moves == ()
        with pytest.raises(ConflictError, match="ask for a new one"):
            site.consolidate(found.name)


def test_a_proposal_is_void_as_soon_as_anything_has_happened() -> None:
    with scattered() as site:
        found = site.propose(5.0)
        site.submit(request("late", 1))
        with pytest.raises(ConflictError, match="ask for a new one"):
            site.consolidate(found.name)


def test_moves_that_cost_more_than_they_gain_are_not_proposed() -> None:
    with scattered(downtime_s=1e5) as site:
        assert site.propose(5.0).moves == ()


def test_jobs_that_may_not_move_and_drained_servers_stay() -> None:
    with controller("fat_tree", {"downtime_s": 10.0}) as site:
        for server in range(4):
            site.submit_all([request(f"keep{server}", 2, movable=server > 0), request(f"gone{server}", 6)])
        for server in range(4):
            site.finish(f"gone{server}")
        pinned = site.running["keep0"].servers
        found = site.propose(5.0)
        assert "keep0" not in {move.job for move in found.moves}
        assert {server for move in found.moves for server in move.place.servers} == {*pinned}


def test_where_slots_matter_nobody_moves() -> None:
    with controller("torus") as site, pytest.raises(ConflictError, match="slots, slices or pools"):
        site.propose(1.0)

"""What is remembered between events agrees with a recount: failed searches by rack, who stands where, what is kept."""

from math import inf
from random import Random
from typing import Any

import numpy as np
import pytest

from planner.controller import Controller, Settings
from planner.controller.ledger import Entry
from planner.controller.negative_cache import NegativeCache
from planner.controller.reservation import reserve
from planner.controller.state import ClusterState
from planner.fabrics.job_class import JobClass
from tests.planner.controller.sites import SIZES, controller, request
from tests.planner.simulate.grounds import cluster

KIND = JobClass("bert", 1, 1, (), 1.0)
MARK, OTHER = (KIND, "open"), (KIND, "beside")


def test_a_search_goes_on_where_it_was_cut_short_and_where_something_was_given_back() -> None:
    cache = NegativeCache([range(2), range(2, 4), range(4, 6)])
    assert cache.open(MARK) == [0, 1, 2]
    cache.fail(MARK, [0])
    cache.end(MARK)
    assert MARK in cache, "its time is over until something is given back"
    assert OTHER not in cache
    cache.free([5])
    assert MARK not in cache
    assert cache.open(MARK) == [1, 2], "the first rack was looked at in full"
    cache.fail(MARK, [1, 2])
    cache.end(MARK)
    cache.free([1])
    assert cache.open(MARK) == [0]
    cache.fail(OTHER, [0, 1, 2])
    cache.forget("beside")
    assert cache.open(OTHER) == [0, 1, 2]
    cache.clear()
    assert cache.open(MARK) == [0, 1, 2]


def _busy(seed: int, settings: dict[str, Any] | None = None) -> Controller:
    """Jobs with limits came, moved and went, on 4 servers of 8."""
    c, random = controller("fat_tree", settings), Random(seed)
    for i in range(60):
        c.submit(request(f"j{i}", random.choice(SIZES), duration_s=random.choice([10, 50, 90])), at_s=i)
        if random.random() < 0.6:
            c.finish(random.choice(list(c.running)), at_s=i)
    return c


def _state(c: Controller) -> ClusterState:
    return c._durable.state


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_guests_and_their_ends_are_those_of_the_running_jobs(seed: int) -> None:
    state = _state(_busy(seed))
    for server in range(4):
        here = [e for e in state.running() if e.place is not None and server in e.place.servers]
        ranks = {e.name: sum(s == server for s, _ in e.place.devices) for e in here if e.place is not None}
        assert state.on(server) == ranks
        assert list(state.occupancy.ends(server)) == sorted((e.end_s, ranks[e.name]) for e in here)
        assert state.occupancy.clear_s[server] == max((e.end_s for e in here), default=0.0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("size", [1, 4, 8, 16])
def test_what_is_kept_is_free_the_earliest(seed: int, size: int) -> None:
    state = _state(_busy(seed, {"depth": 1}))
    entry = Entry(request("new", size), state.ledger.kinds.expand(request("new", size)), 1000, state.now_s)
    found = reserve(state, entry, state.kind(entry))
    assert found is not None
    assert found.at_s == max(state.now_s, _earliest(state, size))


def _earliest(state: ClusterState, size: int) -> float:
    """By letting jobs end one after the other: when one server has so many free, or so many servers are clear."""
    ends = sorted({0.0, *(entry.end_s for entry in state.running())})
    for end_s in ends:
        held = np.zeros(4)
        for entry in state.running():
            if entry.place is not None and entry.end_s > end_s:
                np.add.at(held, [server for server, _ in entry.place.devices], 1)
        if (size <= 8 and (8 - held).max() >= size) or (size > 8 and 8 * (held == 0).sum() >= size):
            return end_s
    return inf


def test_a_search_that_is_cut_short_goes_on_at_later_events_and_ends() -> None:
    """On 8 racks with no time at all for a search, the first job starts nevertheless: where room is kept for it."""
    c = Controller(cluster("lightpath", racks=8), settings=Settings(greedy_budget_s=1e-9, repair_budget_s=0))
    c.submit(request("a", 8), at_s=0)
    assert c.waiting == () or c.job("a").waits_for is not None
    c.submit(request("b", 1), at_s=1)
    assert "a" in c.running

"""A running job that waits for more accelerators: it has a place in the queue, and gets them in its turn."""

from pathlib import Path
from typing import Any

import pytest

from planner.controller import Controller, Move, Settings, Wait, waiting_growth
from planner.controller.free_state import Found
from planner.controller.growing import NotGrownError
from planner.model.errors import ConflictError, InputError
from tests.planner.controller.sites import chat, controller, remember_kinds, request, resized

remember_kinds()
TWO: dict[str, Any] = {"servers": 2, "gpus_per_server": 4}


def waiting(**fields: Any) -> Controller:
    """`it` has half of a server and waits for all of it; `a` has the other half, `b` another server."""
    c = controller("fat_tree", {"moves": False, "preempts": False} | fields, **TWO)
    c.submit(request("it", 2, movable=False), at_s=0)
    c.submit(request("a", 2, duration_s=100.0, movable=False), at_s=0)
    c.submit(request("b", 4, duration_s=50.0, movable=False), at_s=0)
    [told] = [d for d in c.grow(resized(c, "it", 4, one_server=True), waits=True, at_s=1) if isinstance(d, Wait)]
    assert (told.job, told.tag) == ("it", "room")
    assert "needs 2 accelerators more" in told.because
    return c


def told(c: Controller) -> str:
    """What `it` waits for to grow."""
    growth = c.job("it").growth
    assert growth is not None
    assert growth.waits_for is not None
    return growth.waits_for.tag


def test_it_grows_as_soon_as_there_is_room() -> None:
    c = waiting()
    assert len(c.running["it"].devices) == 2
    [*_, move] = [d for d in c.finish("a", at_s=2) if isinstance(d, Move)]
    assert (move.job, len(move.devices), move.downtime_s) == ("it", 4, 0.0)
    assert c.job("it").growth is None
    assert c.job("it").request.accelerators == 4
    assert c.check() == []


def test_what_is_kept_for_it_no_job_behind_it_takes() -> None:
    """`late` would fit where `a` was, and never end."""
    c = waiting()
    assert c.state()["reserved"] == {"d": "reserve", "job": "it", "servers": [0], "at_s": 100.0}
    c.submit(request("late", 2), at_s=2)
    c.submit(request("whole", 4), at_s=2)
    assert (*c.waiting,) == ("late", "whole")
    c.finish("a", at_s=3)
    assert len(c.running["it"].devices) == 4
    assert set(c.waiting) == {"late", "whole"}
    c.finish("b", at_s=4)
    assert "late" in c.running
    assert c.check() == []


def test_jobs_ahead_of_it_go_first() -> None:
    """One of a higher priority has all that is free, and the growth waits on."""
    c = waiting()
    c.submit(request("urgent", 2, priority=5, constraints={"one_server": True}), at_s=2)
    c.finish("a", at_s=3)
    assert "urgent" in c.running
    assert told(c) == "room"
    c.finish("urgent", at_s=4)
    assert len(c.running["it"].devices) == 4


def test_it_waits_for_what_it_asked_for_last() -> None:
    c = waiting()
    number = c.seq
    again = c.grow(resized(c, "it", 4, one_server=True), waits=True, at_s=2)
    assert [type(each) for each in again] == [Wait]
    assert c.seq == number, "asked again with the same content: nothing changes"
    c.grow(resized(c, "it", 3, one_server=True), waits=True, at_s=2)
    growth = c.job("it").growth
    assert growth is not None
    assert growth.request.accelerators == 3
    c.grow(c.job("it").request, at_s=3)
    assert c.job("it").growth is None
    assert c.state()["reserved"]["job"] is None
    with pytest.raises(InputError, match="asks for no more"):
        c.grow(c.job("it").request, at_s=3)
    c.finish("a", at_s=4)
    assert len(c.running["it"].devices) == 2


@pytest.mark.parametrize("how", ["shrink", "finish", "fail"])
def test_a_job_that_shrinks_leaves_or_stops_waits_no_more(how: str) -> None:
    c = waiting()
    if how == "shrink":
        c.shrink(resized(c, "it", 1), c.running["it"].device_names[:1], at_s=2)
    elif how == "finish":
        c.finish("it", at_s=2)
    else:
        c.fail(c.running["it"].device_names[0], at_s=2)
        assert "it" in c.waiting
    assert c.state().get("growths") is None
    assert c.state()["reserved"]["job"] in (None, "it" if how == "fail" else None)
    c.finish("a", at_s=3)
    assert c.check() == []


def test_a_restart_knows_who_waits_to_grow(tmp_path: Path) -> None:
    path, rules = tmp_path / "journal.db", Settings(greedy_budget_s=60, repair_budget_s=0, snapshot_every=3)
    wanted = request("it", 8, constraints={"one_server": True})
    c = Controller(controller("fat_tree", servers=1).cluster, path, rules)
    c.submit(request("it", 4), at_s=0)
    c.submit(request("other", 4), at_s=0)
    told = c.grow(wanted, waits=True, key="once", at_s=1)
    assert c.grow(wanted, waits=True, key="once", at_s=1) == told
    state = c.state()
    assert [each["request"]["name"] for each in state["growths"]] == ["it"]
    c._durable.journal.close()  # a crash: no snapshot is written
    with Controller(journal=path) as crashed:
        assert crashed.state() == state
    with Controller(journal=path) as again:
        again.finish("other", at_s=2)
        assert again.job("it").request == wanted
        assert len(again.running["it"].devices) == 8
        assert again.check() == []
        state = again.state()
    with Controller(journal=path) as again:
        assert again.state() == state


def test_who_moves_and_grows_at_one_event_pauses_for_the_move() -> None:
    """There is no room beside it; an accelerator of it fails, and where it goes there is."""
    c = controller("fat_tree", {"downtime_s": 7.0}, **TWO)
    c.submit(request("it", 2), at_s=0)
    c.submit(request("a", 2, movable=False), at_s=0)
    c.grow(resized(c, "it", 4, one_server=True), waits=True, at_s=1)
    assert c.job("it").growth is not None
    [move] = [each for each in c.fail(c.running["it"].device_names[0], at_s=2) if isinstance(each, Move)]
    assert (move.job, len(move.devices), move.downtime_s) == ("it", 4, 7.0)
    assert c.job("it").growth is None
    assert c.state()["jobs"][0]["pause_s"] == 7.0
    assert c.check() == []


def test_who_moves_to_fewer_and_grows_at_one_event_is_known_after_a_crash(tmp_path: Path) -> None:
    """It runs on four of 2 or 4, and waits for 3 or 6; two of its four fail, so that it moves to two, and has three."""
    path, rules = tmp_path / "journal.db", Settings(greedy_budget_s=60, repair_budget_s=10)
    c = Controller(controller("fat_tree", **TWO).cluster, path, rules)
    c.submit(request("it", [2, 4]), at_s=0)
    c.submit(request("other", 3, movable=False), at_s=0)
    assert len(c.running["it"].devices) == 4
    c.grow(resized(c, "it", [3, 6]), waits=True, at_s=1)
    assert c.job("it").growth is not None
    c.fail(c.running["it"].device_names[0], at_s=2)
    [move] = [each for each in c.fail("s0.g1", at_s=3) if isinstance(each, Move)]
    assert (len(move.before.devices), len(move.devices), c.job("it").growth) == (4, 3, None)
    assert move.because.endswith("has failed, and goes on with 3 accelerators, as its user asked")
    c._durable.journal.close()  # a crash: no snapshot is written
    with Controller(journal=path) as again:
        assert again.state() == c.state()
        assert again.check() == []


@pytest.mark.parametrize(
    ("size", "more", "first", "then"),
    [(2, 3, {"per_server": 1}, {"per_server": 1}), (2, 4, {"per_server": 1}, {"per_server": 2})],
)
def test_what_no_empty_cluster_has_room_for_is_refused(
    size: int, more: int, first: dict[str, Any], then: dict[str, Any]
) -> None:
    """Two servers: three with one each, or two on each of which one has its only rank."""
    c = controller("fat_tree", **TWO)
    c.submit(request("it", size, constraints=first))
    state = c.state()
    with pytest.raises(ConflictError, match="would have no room beside its own if no other job ran"):
        c.grow(resized(c, "it", more, **then), waits=True)
    assert c.state() == state


def test_others_have_servers_kept_while_a_growth_waits_for_a_repair() -> None:
    """A part of the only server that it could grow on is down: the next job is first."""
    c = waiting()
    c.fail(c.running["a"].device_names[0], at_s=2)
    c.cancel("a", at_s=2)
    assert c.job("it").growth is not None
    c.submit(request("big", 4, constraints={"one_server": True}), at_s=3)
    assert c.state()["reserved"]["job"] == "big"
    c.finish("b", at_s=4)
    assert "big" in c.running
    assert c.check() == []


def test_others_move_for_the_job_behind_a_growth() -> None:
    """Two servers have two free accelerators each, and the next job asks for four of one."""
    c = controller("fat_tree", {"preempts": False}, servers=3, gpus_per_server=4)
    for name in ("it", "a", "d", "x", "e", "y"):
        c.submit(request(name, 2, movable=name in "de", constraints={"one_server": True}), at_s=0)
    c.grow(resized(c, "it", 4, one_server=True), waits=True, at_s=1)
    for name in "xy":
        c.finish(name, at_s=2)
    moves = [
        each.job
        for each in c.submit(request("big", 4, constraints={"one_server": True}), at_s=3)
        if isinstance(each, Move)
    ]
    assert moves in (["d"], ["e"])
    assert "big" in c.running
    assert c.job("it").growth is not None
    assert c.check() == []


def test_asked_again_in_the_same_words_it_waits_on() -> None:
    """The request that it was submitted with is none to wait for: it says that no more is wanted."""
    c = controller("fat_tree", {"moves": False}, **TWO)
    c.submit(request("a", 2, movable=False), at_s=0)
    c.submit(request("b", 4, movable=False), at_s=0)
    c.submit(request("it", [2, 4]), at_s=0)
    assert len(c.running["it"].devices) == 2
    own = c.job("it").request
    for _ in range(2):
        with pytest.raises(InputError, match="asks for what it was submitted with; give the number that it waits for"):
            c.grow(own, waits=True, at_s=1)
    for _ in range(2):
        c.grow(resized(c, "it", 4), waits=True, at_s=1)
        assert c.job("it").growth is not None


def test_a_quota_that_binds_later_is_told() -> None:
    c = controller("fat_tree", {"quotas": {"a": {"accelerators": 6}}, "moves": False}, **TWO)
    c.submit(request("it", 2, tenant="a", movable=False), at_s=0)
    c.submit(request("b", 2, tenant="b", movable=False), at_s=0)
    c.grow(resized(c, "it", 4, one_server=True), waits=True, at_s=1)
    c.submit(request("own", 4, tenant="a"), at_s=2)
    c.finish("b", at_s=3)
    assert told(c) == "quota"
    c.finish("own", at_s=4)
    assert len(c.running["it"].devices) == 4


def test_what_would_wait_in_vain_is_refused() -> None:
    """A ring of four replicas has all the light of its accelerators, whoever leaves."""
    c = controller("lightpath")
    c.submit(request("it", 4))
    state = c.state()
    with pytest.raises(ConflictError, match="has circuits on that none of its larger"):
        c.grow(resized(c, "it", 8), waits=True)
    assert c.state() == state


def test_a_quota_that_is_used_up_keeps_nothing_from_others() -> None:
    c = controller("fat_tree", {"quotas": {"a": {"accelerators": 6}}, "moves": False}, **TWO)
    c.submit(request("it", 2, tenant="a"), at_s=0)
    c.submit(request("own", 4, tenant="a"), at_s=0)
    [told] = c.grow(resized(c, "it", 4), waits=True, at_s=1)
    assert isinstance(told, Wait)
    assert told.tag == "quota"
    c.submit(request("other", 2, tenant="b"), at_s=2)
    assert "other" in c.running
    c.finish("own", at_s=3)
    assert len(c.running["it"].devices) == 4
    assert c.check() == []


def test_light_is_waited_for_in_a_rack() -> None:
    """Circuits that are on stay so, whenever it grows."""
    c = controller("lightpath", {"moves": False, "preempts": False}, servers=2, tiles_per_server=4)
    c.submit(chat("it", 2), at_s=0)
    c.submit(chat("other", 4), at_s=0)
    before = c.running["it"]
    c.grow(resized(c, "it", 8), waits=True, at_s=1)
    growth = c.job("it").growth
    assert growth is not None
    c.finish("other", at_s=2)
    place = c.running["it"]
    assert place.device_names[:2] == before.device_names
    assert before.lit.by_phase <= place.lit.by_phase
    assert len(place.devices) == 8
    assert c.check() == []


def test_what_a_search_that_is_cut_short_leaves_is_told_and_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody but a growth waits, and there is room for it."""
    c, searches, real = waiting(), 0, waiting_growth.find_beside
    assert not c.waiting
    assert c.has_waiting

    def find_beside(*given: Any) -> Found:
        nonlocal searches
        searches += 1
        if searches <= 2:
            raise NotGrownError("grow", "it", "the time is over", "time")
        return real(*given)

    monkeypatch.setattr(waiting_growth, "find_beside", find_beside)
    assert "time" in [d.tag for d in c.finish("a", at_s=2) if isinstance(d, Wait)]
    assert (searches, told(c)) == (2, "time")
    c.replan(1.0, at_s=3)
    assert len(c.running["it"].devices) == 4
    assert not c.has_waiting


def test_too_few_free_accelerators_are_told_however_little_time_there_is() -> None:
    c = controller("fat_tree", **TWO)
    c.submit_all([request("it", 4, movable=False), request("other", 4, movable=False)])
    entry = c._durable.ledger.jobs["it"]
    larger = resized(c, "it", 8)
    c.prepare(larger)
    with pytest.raises(NotGrownError, match="needs 4 accelerators more where its ranks can use them, and 0 are") as no:
        waiting_growth.find_beside(
            c._durable.state, entry, larger, c._durable.kinds.name(larger), c._durable.state.drained, 0.0
        )
    assert no.value.tag == "room"

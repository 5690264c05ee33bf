"""A running job that gives back some of its accelerators: at once, without a move, and for good."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from planner.controller import Controller, Move, Request, Settings, Start
from planner.controller.switch_reconciler import SwitchReconciler
from planner.model.errors import ConflictError, InputError
from tests.planner.controller.over_racks import held_above, joined, opened, training
from tests.planner.controller.scripted_switches import Switches
from tests.planner.controller.sites import chat, controller, request, resized, started


def smaller(c: Controller, name: str, accelerators: int, **constraints: Any) -> Request:
    limits = {"accelerators": accelerators, "constraints": constraints}
    return Request.model_validate(c.job(name).request.model_dump() | limits)


def test_what_is_given_back_is_free_at_once(tmp_path: Path) -> None:
    """Another job starts there in the same event; the ranks that stay have their accelerators, after a restart too."""
    path = tmp_path / "journal.db"
    settings = Settings(greedy_budget_s=60, repair_budget_s=10)
    with Controller(controller().cluster, journal=path, settings=settings) as c:
        c.submit(request("wide", 32, constraints={"per_server": 8}))
        c.submit(request("next", 8))
        before = c.running["wide"].device_names
        kept = [*before[:8], *before[16:32]]
        decisions = c.shrink(smaller(c, "wide", 24, per_server=8), kept, key="once")
        move = next(each for each in decisions if isinstance(each, Move))
        assert move.gives_back == before
        assert c.running["wide"].device_names == tuple(kept)
        assert [each.job for each in decisions if isinstance(each, Start)] == ["next"]
        assert {*c.running["next"].device_names} == {*before[8:16]}
        assert c.shrink(smaller(c, "wide", 24, per_server=8), kept, key="once") == decisions
        state = c.state()
    with Controller(journal=path) as again:
        assert again.state() == state
        assert again.check() == []
        assert again.job("wide").request.accelerators == 24
        assert started(again.finish("wide")) == []
        assert started(again.submit(request("last", 24))) == ["last"]


@pytest.mark.parametrize(
    ("kept", "accelerators", "message"),
    [
        (slice(0, 8), 16, "8 accelerators are not fewer of its 16, as many as it asks for now"),
        (slice(0, 16), 16, "are not fewer"),
        (slice(0, 0), 1, "are not fewer"),
    ],
)
def test_what_cannot_be_kept(kept: slice, accelerators: int, message: str) -> None:
    c = controller()
    c.submit(request("wide", 16))
    state = c.state()
    with pytest.raises(InputError, match=message):
        c.shrink(smaller(c, "wide", accelerators), c.running["wide"].device_names[kept])
    with pytest.raises(InputError, match="no job 'other' waits or runs"):
        c.shrink(request("other", 8), ["s0.g0"])
    assert c.state() == state


def test_servers_that_would_give_other_numbers_are_kept() -> None:
    c = controller()
    c.submit(request("wide", 16, constraints={"per_server": 8}))
    names = c.running["wide"].device_names
    with pytest.raises(
        ConflictError, match="no configuration of 8 accelerators, without circuits or links between racks, on those"
    ):
        c.shrink(smaller(c, "wide", 8, per_server=8), names[4:12])
    assert c.running["wide"].device_names == names
    assert c.check() == []


def test_racks_that_would_give_other_numbers_of_servers_are_kept() -> None:
    c = controller(racks=3, servers=3)
    bounds = {"per_server": 8, "servers_by_rack": {"min": 2, "max": 2}}
    c.submit(request("wide", 32, constraints=bounds))
    of = dict(zip(c.running["wide"].device_names, c.running["wide"].devices, strict=True))
    racks = sorted({server // 3 for server, _ in of.values()})
    one_of_each = {min(server for server, _ in of.values() if server // 3 == rack) for rack in racks}
    with pytest.raises(ConflictError, match="no configuration of 16 accelerators"):
        c.shrink(smaller(c, "wide", 16, **bounds), [name for name, (server, _) in of.items() if server in one_of_each])
    c.shrink(smaller(c, "wide", 16, **bounds), [name for name, (server, _) in of.items() if server // 3 == racks[0]])
    assert {server // 3 for server, _ in c.running["wide"].devices} == {racks[0]}
    assert c.check() == []


def test_a_job_that_changes_in_more_than_its_size_is_another_one() -> None:
    c = controller()
    c.submit(request("wide", 16))
    changed = smaller(c, "wide", 8).model_copy(update={"priority": 7})
    with pytest.raises(ConflictError, match="differs in more"):
        c.shrink(changed, c.running["wide"].device_names[:8])


@pytest.mark.parametrize(
    ("fabric", "lacking"),
    [("lightpath", "over circuits and memory alone"), ("torus", "without circuits"), ("ocs_rail", "without circuits")],
)
def test_circuits_stay_with_the_ranks_that_they_were_planned_for(fabric: str, lacking: str) -> None:
    c = controller(fabric)
    c.submit(request("wide", 16))
    state = c.state()
    with pytest.raises(ConflictError, match=lacking):
        c.shrink(smaller(c, "wide", 8), c.running["wide"].device_names[:8])
    assert c.state() == state
    assert c.check() == []


@pytest.mark.parametrize(("asks", "size", "more"), [(request, 1, 8), (chat, 2, 4), (chat, 4, 12), (chat, 8, 16)])
def test_what_has_grown_around_light_gives_back_what_it_grew_by(
    asks: Callable[..., Request], size: int, more: int
) -> None:
    """Its first circuits stay on all the time, and switches put off the others alone."""
    c = controller("lightpath")
    switches = Switches()
    reconciler = SwitchReconciler(c, switches)
    c.submit(asks("it", size))
    before = c.running["it"]
    c.grow(resized(c, "it", more))
    reconciler.tick()
    told = len(switches.calls)
    c.shrink(resized(c, "it", size), before.device_names)
    reconciler.tick()
    assert (c.running["it"].device_names, c.running["it"].circuits) == (before.device_names, before.circuits)
    assert switches.calls[told:] == [("release", "it"), ("connect", "it")][: 2 if size > 1 else 1]
    assert switches.kept == ([before.circuits_json] if size > 1 else [])
    assert reconciler.connected("it", c.running["it"]) is not False
    assert c.check() == []
    assert (c.num_free, started(c.submit(chat("other", 16)))) == (32 - size, ["other"])


def test_links_between_racks_stay_with_the_ranks_that_they_were_planned_for() -> None:
    c = opened(joined("lightpath", "packets"), preempts=False, moves=False)
    c.submit(training("a", 4, constraints={"per_server": 1, "servers_by_rack": [2, 2]}))
    names, held = c.running["a"].device_names, held_above(c)
    with pytest.raises(ConflictError, match="no configuration of 2 accelerators in one rack"):
        c.shrink(smaller(c, "a", 2, per_server=1, servers_by_rack=[1, 1]), [names[0], names[2]])
    assert held_above(c) == held


def test_nothing_pauses_since_nothing_moves() -> None:
    c = controller(settings={"downtime_s": 60})
    c.submit(request("wide", 32, duration_s=100.0, constraints={"per_server": 8}), at_s=0)
    c.submit(request("next", 32), at_s=0)
    c.shrink(smaller(c, "wide", 24, per_server=8), c.running["wide"].device_names[:24], at_s=10)
    assert c.state()["jobs"][0]["pause_s"] == 0
    assert c.state()["reserved"]["at_s"] == 100

"""A running job that gets more accelerators beside those that it has: no rank of it moves, and nobody else's does."""

from collections.abc import Callable
from itertools import permutations
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.controller import Controller, Move, Request, elastic_jobs
from planner.controller.switch_reconciler import SwitchReconciler
from planner.model.errors import ConflictError, InputError
from planner.placement.placement import Place
from tests.planner.controller.scripted_switches import Switches
from tests.planner.controller.sites import chat, controller, remember_kinds, request, resized

remember_kinds()
SMALL: dict[str, dict[str, Any]] = {
    "fat_tree": {"servers": 3, "gpus_per_server": 4},
    "ocs_rail": {"servers": 3, "gpus_per_server": 4},
    "lightpath": {"servers": 2, "tiles_per_server": 4},
    "torus": {"servers": 2},
    "sipac": {"servers": 2},
}
"""of up to 16 accelerators, so that all ways to lie can be listed"""
MOST_FREE = 6


def places(c: Controller) -> dict[str, Place]:
    return dict(c.running)


def lit(place: Place) -> set[Any]:
    return {(held.phase, circuit) for held in place.circuits for circuit in held.circuits}


def may_grow(c: Controller, wanted: Request) -> bool:
    """Whether some accelerators that nobody holds, in some order behind the job's own, are a place that the validator
    agrees with. Circuits of given accelerators are those that are found first beside those that the job has; with such
    it becomes no slower."""
    state, kinds = c._durable.state, c._durable.kinds
    kind, place = kinds.name(wanted), c.running[wanted.name]
    free = [(s, slot) for s, slots in enumerate(state.free.state.slots.lit) for slot in slots]
    state.free.state.release(state.free.held[wanted.name])
    try:
        for row in kinds[kind].rows:
            if place.has_circuits and row.rate < place.row.rate:
                continue
            more = row.shape.num_ranks - len(place.devices)
            for added in permutations(free, more) if more > 0 else ():
                found = state.free.on(kind, row, (*place.devices, *added), place.lit)
                if found.place is not None and state.validator.objection(wanted, found.place) is None:
                    return True
    finally:
        state.free.state.take(state.free.held[wanted.name])
    return False


@pytest.mark.parametrize("fabric", SMALL)
@given(st.data())
@settings(max_examples=10)
def test_it_grows_exactly_where_some_free_accelerators_make_a_place(fabric: str, data: st.DataObject) -> None:
    c = controller(fabric, **SMALL[fabric])
    random = Random(data.draw(st.integers(0, 10**6)))
    asks = random.choice((request, chat))
    c.submit(asks("it", random.choice((1, 1, 2, 4)), movable=False))
    names = [f"other{i}" for i in range(14)]
    for name in names:
        c.submit(request(name, random.choice((1, 1, 1, 2)), movable=False))
        if name in c.waiting:
            c.cancel(name)
    most, others = random.randint(2, MOST_FREE), sorted(set(c.running) - {"it"})
    for name in random.sample(others, len(others)):
        if c.num_free + len(c.running[name].devices) <= most:
            c.finish(name)
    before, number = places(c), len(c.running["it"].devices)
    limits = random.choice(({}, {}, {"one_server": True}, {"per_server": random.choice((1, 2, 4))}))
    wanted = resized(c, "it", random.choice((number + 1, number + 2, 2 * number, [number, number + 3])), **limits)
    try:
        c.prepare(wanted)
    except InputError:
        return  # no such job can ever run here
    is_able = fabric == "lightpath" or not before["it"].has_circuits
    expected = is_able and may_grow(c, wanted)
    try:
        [move, *_] = c.grow(wanted)
        assert isinstance(move, Move)
    except ConflictError:
        assert not expected
        assert places(c) == before
    else:
        assert expected
        held = before["it"].device_names
        assert move.devices[: len(held)] == held
        assert lit(before["it"]) <= lit(c.running["it"])
        assert {name: place for name, place in places(c).items() if name != "it"} == {
            name: place for name, place in before.items() if name != "it"
        }
        assert c.job("it").request == wanted
    assert c.check() == []


def test_a_part_that_is_begun_is_filled_where_it_lies() -> None:
    """Three ranks on a server, two of four free there: with two servers of four it has the fourth one there."""
    c = controller(**SMALL["fat_tree"])
    c.submit(request("it", 2, constraints={"per_server": 2}))
    c.grow(resized(c, "it", 8, per_server=4))
    devices = c.running["it"].devices
    assert [server for server, _ in devices] == 4 * [devices[0][0]] + 4 * [devices[4][0]]
    assert c.check() == []


@pytest.mark.parametrize("asked", [[1, 3], [3, 1], {"min": 2, "max": 2}, [4], {"min": 1, "max": 3}])
def test_racks_give_the_numbers_of_servers_that_are_asked_for(asked: Any) -> None:
    c = controller(racks=3, servers=4)
    c.submit(request("it", 8, constraints={"per_server": 4, "servers_by_rack": {"min": 1, "max": 2}}))
    c.submit(request("other", 4))
    others = c.running["other"]
    c.grow(resized(c, "it", 16, per_server=4, servers_by_rack=asked))
    assert c.check() == []
    assert c.running["other"] == others


def test_waiting_jobs_keep_what_is_kept_for_them() -> None:
    """Servers are kept for the job that waits first: one that grows may have some only if it has ended by then."""
    c = controller(servers=3)
    c.submit(request("slow", 8, duration_s=10_000.0), at_s=0)
    c.submit(request("long", 4, duration_s=100.0), at_s=0)
    c.submit(request("half", 8, duration_s=1000.0, constraints={"per_server": 4}), at_s=0)
    c.submit(request("first", 16, constraints={"per_server": 8}), at_s=0)
    assert (c.state()["reserved"]["servers"], c.state()["reserved"]["at_s"]) == ([1, 2], 1000)
    with pytest.raises(ConflictError, match="0 are free there beside 4 on servers that are drained or kept for a job"):
        c.grow(resized(c, "slow", 12), at_s=1)
    c.grow(resized(c, "long", 8), at_s=1)
    assert c.state()["reserved"]["at_s"] == 1000
    assert c.check() == []


def test_no_more_than_its_tenant_may_hold() -> None:
    c = controller("ocs_rail", {"quotas": {"a": {"accelerators": 20}}})
    c.submit(request("it", 8, tenant="a"))
    c.submit(request("other", 8, tenant="a"))
    with pytest.raises(ConflictError, match="tenant a may hold 4 more accelerators, and it needs 8"):
        c.grow(resized(c, "it", 16))
    with pytest.raises(InputError, match="takes more than tenant a may ever hold"):
        c.grow(resized(c, "it", 32))
    assert len(c.running["it"].devices) == 8


def test_no_more_optical_ports_than_its_tenant_may_hold() -> None:
    c = controller("ocs_rail", {"quotas": {"a": {"ports": 16}}})
    c.submit(request("wide", 16, tenant="a", constraints={"per_server": 4}))
    c.submit(request("it", 4, tenant="a", constraints={"per_server": 4}))
    assert c.running["wide"].num_ports == 16
    with pytest.raises(ConflictError, match="tenant a may hold 0 more optical ports, and it needs 8"):
        c.grow(resized(c, "it", 8, per_server=4))


def test_drained_servers_give_nothing() -> None:
    c = controller(servers=2)
    c.submit(request("it", 4))
    c.drain("s1")
    c.grow(resized(c, "it", 8))
    with pytest.raises(ConflictError, match=r"needs 8 accelerators more .* 0 are free there beside 8 on servers"):
        c.grow(resized(c, "it", 16))


def test_what_does_not_grow() -> None:
    c = controller("lightpath")
    c.submit(request("it", 4))
    state = c.state()
    with pytest.raises(InputError, match="no job 'other' waits or runs"):
        c.grow(request("other", 8))
    with pytest.raises(ConflictError, match="differs in more"):
        c.grow(resized(c, "it", 8).model_copy(update={"priority": 7}))
    with pytest.raises(InputError, match="asks for no more"):
        c.grow(resized(c, "it", 2))
    assert c.state() == state
    c.submit(request("wide", 32))
    with pytest.raises(ConflictError, match="waits and has not started"):
        c.grow(resized(c, "wide", 16))


@pytest.mark.parametrize(("asks", "size", "more"), [(request, 2, 4), (chat, 2, 4), (chat, 4, 12), (chat, 8, 16)])
def test_light_that_is_on_stays_on(asks: Callable[..., Request], size: int, more: int) -> None:
    """Switches are told of what is new alone."""
    c = controller("lightpath")
    switches = Switches()
    reconciler = SwitchReconciler(c, switches)
    c.submit(asks("it", size))
    c.submit(request("other", 3))
    reconciler.tick()
    before, others, told = c.running["it"], c.running["other"], len(switches.calls)
    c.grow(resized(c, "it", more))
    assert reconciler.connected("it", c.running["it"]) is False
    reconciler.tick()
    assert reconciler.connected("it", c.running["it"])
    assert switches.calls[told:] == [("connect", "it")]
    assert lit(before) < lit(c.running["it"])
    assert before.row.rate <= c.running["it"].row.rate
    assert c.running["other"] == others
    assert c.check() == []


def test_light_that_would_make_it_slower_is_not_kept() -> None:
    """A ring of four replicas has all the light of its accelerators: around it eight would train at half its speed."""
    c = controller("lightpath")
    c.submit(request("it", 4))
    with pytest.raises(ConflictError, match=r"has circuits on that none of its larger .* set anew"):
        c.grow(resized(c, "it", 8))


def test_what_stands_in_the_way_is_said() -> None:
    """Speed, light that is short, and servers in which no new part can lie beside the ranks that stay."""
    c = controller("lightpath", servers=2, tiles_per_server=4)
    c.submit(chat("it", 2))
    with pytest.raises(ConflictError, match="has no larger configuration that is as fast as it is now"):
        c.grow(resized(c, "it", 3))
    c = controller("lightpath", servers=2, tiles_per_server=2, fibers=0)
    c.submit(request("it", 1))
    with pytest.raises(ConflictError, match="3 are free there, but no free light, memory or links join these with"):
        c.grow(resized(c, "it", 4))
    c = controller(**SMALL["fat_tree"])
    c.submit(request("it", 2, constraints={"per_server": 1}))
    with pytest.raises(ConflictError, match="lies on these and leaves each rank where it is"):
        c.grow(resized(c, "it", 8, per_server=4))


def test_a_growth_ends_with_the_time_of_an_event(monkeypatch: pytest.MonkeyPatch) -> None:
    """However short that is, it has a tenth of a second."""
    c = controller("fat_tree", {"greedy_budget_s": 1e-9, "repair_budget_s": 0})
    c.submit(request("it", 4))
    before = c.state()
    with monkeypatch.context() as patch:
        patch.setattr(elastic_jobs, "LEAST_SEARCH_S", 0.0)
        with pytest.raises(ConflictError, match=r"no place beside its own was found in 1e-06 ms; ask again, or raise"):
            c.grow(resized(c, "it", 8))
    assert c.state() == before
    assert c.check() == []
    c.grow(resized(c, "it", 8))
    assert len(c.running["it"].devices) == 8


@pytest.mark.parametrize(("how", "searches"), [("grow", 0), ("shrink", 1)])
def test_only_what_gives_something_back_has_waiting_jobs_searched(how: str, searches: int) -> None:
    c = controller("fat_tree", {"moves": False, "preempts": False}, servers=3)
    limits = (100.0, 10.0, 1000.0, 10.0, 1000.0, 10.0)
    c.submit_all([request(f"j{i}", 4, duration_s=limit) for i, limit in enumerate(limits)], at_s=0)
    for i in (1, 3, 5):
        c.finish(f"j{i}", at_s=1)
    c.submit(request("whole", 8, constraints={"one_server": True}), at_s=2)
    assert c.waiting == ("whole",)
    free, found = c._durable.state.free, []
    find = free.find

    def counted(*given: Any, **named: Any) -> Any:
        found.append(given)
        return find(*given, **named)

    free.find = counted  # type: ignore[method-assign]
    if how == "grow":
        c.grow(resized(c, "j0", 6), at_s=3)
    else:
        c.shrink(resized(c, "j0", 2), c.running["j0"].device_names[:2], at_s=3)
    assert len(found) == searches


@pytest.mark.parametrize(("fabric", "size"), [("torus", 4), ("ocs_rail", 16)])
def test_circuits_that_cannot_stay_keep_a_job_as_it_is(fabric: str, size: int) -> None:
    c = controller(fabric)
    c.submit(request("it", size, constraints={"per_server": 4} if size == 16 else {}))
    state = c.state()
    with pytest.raises(ConflictError, match="holds circuits, and what joins its accelerators would all have to be set"):
        c.grow(resized(c, "it", 2 * size, **({"per_server": 8} if size == 16 else {})))
    assert c.state() == state


def test_one_accelerator_gets_its_first_circuits() -> None:
    c = controller("lightpath")
    c.submit(request("it", 1))
    assert not c.running["it"].has_circuits
    first = c.running["it"].device_names
    c.grow(resized(c, "it", 8))
    assert c.running["it"].device_names[:1] == first
    assert c.running["it"].has_circuits
    assert c.check() == []


def test_a_job_past_its_limit_leaves_alone_what_is_kept_for_another() -> None:
    """Its limit says no more when it will have left."""
    site = controller(servers=3)
    both, whole = {"per_server": 4}, {"per_server": 8}
    site.submit(request("slow", 8, duration_s=10_000.0), at_s=0)
    site.submit(request("long", 4, duration_s=100.0), at_s=0)
    site.submit(request("half", 8, duration_s=1000.0, constraints=both), at_s=0)
    site.submit(request("first", 16, constraints=whole), at_s=0)
    site.finish("half", at_s=1500)
    with pytest.raises(ConflictError, match="kept for a job that waits"):
        site.grow(resized(site, "long", 12), at_s=5000)


def test_what_is_kept_is_that_of_the_job_that_is_first_by_then() -> None:
    """With time another job comes first, as an event would see, and other servers are kept."""
    site, alone = controller("fat_tree", {"moves": False, "preempts": False, "patience_s": 300.0}), {"one_server": True}
    site.submit_all([request(name, 8, duration_s=600.0, constraints=alone) for name in ("s0", "s1")], at_s=0)
    site.submit_all([request("it", 4), request("v", 4)], at_s=0)
    site.submit_all([request("u", 2, duration_s=500.0), request("w", 2, duration_s=5000.0)], at_s=0)
    site.submit(request("h2", 6, constraints=alone), at_s=0)
    site.submit(request("h1", 16, priority=5, constraints={"per_server": 8}), at_s=10)
    with pytest.raises(ConflictError, match="kept for a job that waits"):
        site.grow(resized(site, "it", 8), at_s=402)

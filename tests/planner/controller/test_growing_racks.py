"""A running job that goes on over more racks: what it has in its racks, and between them, stays as it is."""

from collections.abc import Iterator, Sequence
from itertools import combinations, permutations, product
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.controller import Controller, Move, Request
from planner.controller.switch_reconciler import SwitchReconciler
from planner.fabrics.free_slots import Device
from planner.model.errors import ConflictError, InputError
from planner.placement.placement import Place
from tests.planner.controller.over_racks import joined, opened, racks_of, training
from tests.planner.controller.scripted_switches import Switches
from tests.planner.controller.sites import remember_kinds, request, resized

remember_kinds()


def light(place: Place) -> set[Any]:
    """All that is on for a job, in its racks and between them."""
    return {(held.phase, circuit) for held in place.circuits for circuit in held.circuits} | {*place.upper}


def _over(by_rack: Sequence[Sequence[Device]], more: int, size: int) -> Iterator[tuple[Device, ...]]:
    """So many free accelerators in each of so many racks more, in all orders."""
    for racks in combinations(by_rack, more):
        for parts in product(*(permutations(free, size) for free in racks)):
            yield sum(parts, ())


def may_grow(c: Controller, wanted: Request) -> bool:
    """Whether some free accelerators, in some order, make a place with all that the job has, and no slower one; in one
    rack, or over more racks, as many in each."""
    state, kinds, place = c._durable.state, c._durable.kinds, c.running[wanted.name]
    of = c.cluster.fabric
    free = [(s, slot) for s, slots in enumerate(state.free.state.slots.lit) for slot in slots]
    by_rack = [[each for each in free if of.rack_of(each[0]) == rack] for rack in range(of.racks)]
    held = len(racks_of(place))
    state.free.state.release(state.free.held[wanted.name])
    try:
        for row in kinds[kinds.name(wanted)].rows:
            more, size = row.shape.racks - held, row.in_rack.shape.num_ranks
            if row.rate < place.row.rate or more < 0 or (more and size * held != len(place.devices)):
                continue
            added = _over(by_rack, more, size) if more else permutations(free, row.shape.num_ranks - len(place.devices))
            for new in added:
                found = state.free.on(wanted.name, row, (*place.devices, *new), place.lit, place.upper)
                keeps = found.place is not None and light(place) <= light(found.place)
                if keeps and state.validator.objection(wanted, found.place) is None:  # type: ignore[arg-type]
                    return True
    finally:
        state.free.state.take(state.free.held[wanted.name])
    return False


@pytest.mark.parametrize("upper", ["switches", "fibers", "packets"])
@given(st.data())
@settings(max_examples=8)
def test_it_grows_exactly_where_some_free_accelerators_make_a_place(upper: str, data: st.DataObject) -> None:
    c = opened(joined("lightpath", upper))
    random = Random(data.draw(st.integers(0, 10**6)))
    c.submit(training("it", random.choice((2, 4, 4, 8)), movable=False))
    for i in range(10):
        c.submit(request(f"other{i}", random.choice((1, 2)), movable=False))
        if f"other{i}" in c.waiting:
            c.cancel(f"other{i}")
    others = sorted(set(c.running) - {"it"})
    for name in random.sample(others, random.randint(len(others) // 2, len(others))):
        c.finish(name)
    before = dict(c.running)
    wanted = resized(c, "it", len(before["it"].devices) + random.choice((2, 4)))
    try:
        c.prepare(wanted)
    except InputError:
        return  # no such job can ever run here
    expected = may_grow(c, wanted)
    try:
        [move, *_] = c.grow(wanted)
    except ConflictError:
        assert not expected
        assert dict(c.running) == before
    else:
        assert isinstance(move, Move)
        assert expected
        held = before["it"].device_names
        assert move.devices[: len(held)] == held
        assert light(before["it"]) <= light(c.running["it"])
        assert {name: place for name, place in c.running.items() if name != "it"} == {
            name: place for name, place in before.items() if name != "it"
        }
    assert c.check() == []


@pytest.mark.parametrize("upper", ["switches", "fibers", "packets"])
def test_a_job_in_a_rack_goes_on_over_all_of_them(upper: str) -> None:
    """A ring of four keeps its light, as each rack has one; rings of racks over switches are closed anew."""
    c, switches = opened(joined("lightpath", upper)), Switches()
    reconciler = SwitchReconciler(c, switches)
    c.submit(request("it", 4))
    reconciler.tick()
    told = len(switches.calls)
    for number in (8, 12):
        before = c.running["it"]
        try:
            c.grow(resized(c, "it", number))
        except ConflictError:
            assert (upper, number) == ("switches", 12)
            continue
        reconciler.tick()
        place = c.running["it"]
        assert light(before) < light(place)
        assert before.row.rate < place.row.rate
        assert len(racks_of(place)) == number // 4
    assert {what for what, _ in switches.calls[told:]} == {"connect"}
    assert c.check() == []


def test_a_restart_knows_over_which_racks_it_goes_on(tmp_path: Any) -> None:
    path = tmp_path / "journal.db"
    with opened(joined("lightpath", "fibers"), path) as c:
        c.submit(request("it", 4))
        c.grow(resized(c, "it", 8))
        state = c.state()
    with Controller(journal=path) as again:
        assert again.state() == state
        assert again.check() == []
        again.finish("it")
        assert again.num_free == 12

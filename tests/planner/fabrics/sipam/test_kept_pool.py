"""A running job in a pool gets more beside what it has exactly where some of what is free makes a place with that."""

from collections.abc import Mapping, Sequence
from random import Random

import pytest

from planner.controller import Controller
from planner.controller.growing_racks import why_not_kept
from planner.controller.switch_reconciler import SwitchReconciler
from planner.model.errors import ConflictError, InputError
from planner.placement.placement import Place
from tests.planner.controller.over_racks import joined, opened
from tests.planner.controller.scripted_switches import Switches
from tests.planner.controller.sites import chat, controller, remember_kinds, request, resized
from tests.planner.fabrics.sipam.tiny_pools import TINY, may_grow, may_shrink
from tests.seeds import seeds

remember_kinds()


def crowded(random: Random, sizes: Sequence[int] = (1, 2, 2)) -> Controller:
    """A tiny pool on which a job runs among others that leave it some room."""
    c = controller("sipam", {"moves": False, "preempts": False}, **TINY)
    one = {"constraints": {"one_setting": True}}
    for name in ("before0", "before1", "it", *(f"other{i}" for i in range(6))):
        asks, size = random.choice((request, chat, chat)), random.choice((1, 1, 2))
        c.submit(asks(name, random.choice(sizes) if name == "it" else size, **one))
        if name in c.waiting:
            c.cancel(name)
    others = sorted({*c.running} - {"it"})
    for name in random.sample(others, random.randint(len(others) // 2, len(others))):
        c.finish(name)
    return c


@pytest.mark.slow
def test_it_grows_exactly_where_some_free_parts_make_a_place() -> None:
    assert {_grown(seed) for seed in seeds(10)} >= {True, False}


def _grown(seed: int) -> bool | None:
    """Whether it grew, which all places say too; None where it does not run or can never be so large."""
    random = Random(seed)
    c = crowded(random)
    if "it" not in c.running:
        return None
    before, number = dict(c.running), len(c.running["it"].devices)
    wanted = resized(c, "it", random.choice((number + 1, 2 * number)), one_setting=True)
    try:
        c.prepare(wanted)
    except InputError:
        return None
    expected = may_grow(c, wanted)
    try:
        c.grow(wanted)
    except ConflictError:
        assert not expected
        assert dict(c.running) == before
    else:
        assert expected
        after = c.running["it"]
        assert after.device_names[:number] == before["it"].device_names
        assert before["it"].lit.by_phase <= after.lit.by_phase
        assert others_of(c.running) == others_of(before)
    assert c.check() == []
    return expected


@pytest.mark.slow
def test_it_shrinks_exactly_where_a_part_of_what_it_has_makes_a_place() -> None:
    assert {_shrunk(seed) for seed in seeds(16, first=40)} >= {True, False}


def _shrunk(seed: int) -> bool | None:
    """Whether it shrank, which all parts of what it has say too; None where it does not run."""
    random = Random(seed)
    c = crowded(random, sizes=(2, 3))
    if "it" not in c.running:
        return None
    before, held = dict(c.running), c.running["it"].device_names
    kept = sorted(random.sample(held, random.randint(1, len(held) - 1)), key=held.index)
    wanted = resized(c, "it", len(kept), one_setting=True)
    c.prepare(wanted)
    expected = may_shrink(c, wanted, kept)
    try:
        c.shrink(wanted, kept)
    except ConflictError:
        assert not expected
        assert dict(c.running) == before
    else:
        assert expected
        after = c.running["it"]
        assert after.device_names == tuple(kept)
        assert after.lit.by_phase <= before["it"].lit.by_phase
        assert others_of(c.running) == others_of(before)
    assert c.check() == []
    return expected


def others_of(running: Mapping[str, Place]) -> dict[str, Place]:
    return {name: place for name, place in running.items() if name != "it"}


@pytest.mark.parametrize("size", [2, 4])
def test_what_has_grown_gives_back_alone_what_it_grew_by(size: int) -> None:
    """Switches are told of what is new, and of what is gone, alone."""
    c, switches = controller("sipam"), Switches()
    reconciler = SwitchReconciler(c, switches)
    c.submit(chat("it", size))
    reconciler.tick()
    small, before = c.job("it").request, c.running["it"]
    c.grow(resized(c, "it", 2 * size))
    reconciler.tick()
    assert before.lit.by_phase < c.running["it"].lit.by_phase
    c.shrink(small, before.device_names)
    assert reconciler.connected("it", c.running["it"]) is False
    reconciler.tick()
    assert reconciler.connected("it", c.running["it"])
    assert c.running["it"].lit.by_phase == before.lit.by_phase
    assert switches.calls == [(call, "it") for call in ("connect", "connect", "release", "connect")]
    assert switches.kept == [before.circuits_json]
    assert c.check() == []


@pytest.mark.parametrize("upper", ["packets", "switches", "fibers"])
def test_it_grows_over_a_further_rack_with_a_pool_of_its_own(upper: str) -> None:
    """A rack has four accelerators, all of which the job has."""
    c = opened(joined("sipam", upper))
    c.submit(chat("it", 4))
    before = c.running["it"]
    c.grow(resized(c, "it", 8))
    after = c.running["it"]
    assert after.row.shape.racks == 2
    assert after.device_names[:4] == before.device_names
    assert before.lit.by_phase < after.lit.by_phase
    assert c.check() == []


def test_what_would_have_to_change_is_said() -> None:
    """A ring would have to be opened; or accelerators have more memory than those of any larger configuration."""
    c = controller("sipam")
    c.submit(request("it", 4))
    with pytest.raises(ConflictError, match=r"for the best of these \d+ circuits along data would have to be set anew"):
        c.grow(resized(c, "it", 16))
    place = c.running["it"]
    less = next(
        row for row in c._durable.kinds[place.kind].rows if row.shape.pooled_units < place.row.shape.pooled_units
    )
    words = why_not_kept(c._durable.state.free.state, less, place)
    assert words is not None
    assert words.startswith("memory of each accelerator would have to go from")

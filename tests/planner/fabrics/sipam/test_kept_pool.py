"""A running job in a pool gets more beside what it has exactly where some of what is free makes a place with that."""

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from planner.controller import Controller
from planner.model.errors import ConflictError, InputError
from tests.planner.controller.sites import chat, controller, remember_kinds, request, resized
from tests.planner.fabrics.sipam.tiny_pools import TINY, may_grow

remember_kinds()


def crowded(random: Random) -> Controller:
    """A tiny pool on which a job runs among others that leave it some room."""
    c = controller("sipam", {"moves": False, "preempts": False}, **TINY)
    one = {"constraints": {"one_setting": True}}
    for name in ("before0", "before1", "it", *(f"other{i}" for i in range(6))):
        asks, size = random.choice((request, chat, chat)), random.choice((1, 1, 2))
        c.submit(asks(name, random.choice((1, 2, 2)) if name == "it" else size, **one))
        if name in c.waiting:
            c.cancel(name)
    others = sorted({*c.running} - {"it"})
    for name in random.sample(others, random.randint(len(others) // 2, len(others))):
        c.finish(name)
    return c


@given(st.integers(0, 10**6))
@settings(max_examples=6)
def test_it_grows_exactly_where_some_free_parts_make_a_place(seed: int) -> None:
    random = Random(seed)
    c = crowded(random)
    if "it" not in c.running:
        return
    before, number = dict(c.running), len(c.running["it"].devices)
    wanted = resized(c, "it", random.choice((number + 1, 2 * number)), one_setting=True)
    try:
        c.prepare(wanted)
    except InputError:
        return  # no such job can ever run here
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
        assert {name: place for name, place in c.running.items() if name != "it"} == {
            name: place for name, place in before.items() if name != "it"
        }
    assert c.check() == []

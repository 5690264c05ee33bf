"""The look at every place before it is handed out finds what is wrong with it."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from planner.controller import Controller
from planner.controller.settings import Request
from planner.controller.validator import Validator
from planner.fabrics.wiring import Wire, Wiring
from planner.placement.placement import Place
from tests.planner.controller.sites import controller, request

Broken = Callable[[Place], Place]


def placed(controlled: Controller, name: str, size: int) -> tuple[Request, Place]:
    controlled.submit(request(name, size))
    return controlled.job(name).request, controlled.running[name]


def guard_of(controlled: Controller) -> Validator:
    return controlled._durable.floor.validator


def rewired(place: Place, change: Callable[[Wire], Wire | None]) -> Place:
    """The place with each circuit changed, or left out."""
    configurations = tuple(
        (dimension, tuple(new for wire in wires if (new := change(wire)) is not None))
        for dimension, wires in place.wiring.configurations
    )
    return replace(place, wiring=Wiring(configurations))


def on(place: Place, *devices: tuple[int, int]) -> Place:
    return replace(place, devices=devices + place.devices[len(devices) :])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda p: p, None),
        (lambda p: on(p, p.devices[1]), "hosts two ranks"),
        (lambda p: on(p, (0, 0)), "s0.t0 belongs to other"),
        (lambda p: on(p, (1, 6)), "s1.t6 has failed"),
        (lambda p: on(p, (1, 7)), "s1.t7 has failed"),
        (lambda p: on(p, (9, 0)), "there is no accelerator"),
        (lambda p: on(p, (0, 9)), "there is no accelerator"),
        (lambda p: rewired(p, lambda w: None), "not those of its configuration"),
        (lambda p: rewired(p, lambda w: None if w.source == 0 else w), "not those of its configuration"),
        (lambda p: rewired(p, lambda w: w._replace(mask=w.mask | w.mask << 1)), "not those of its configuration"),
        (lambda p: rewired(p, lambda w: w._replace(mask=w.mask << 8)), "does not exist"),
        (lambda p: rewired(p, lambda w: w._replace(destination=w.source)), "not those of its configuration"),
        (lambda p: rewired(p, lambda w: w._replace(route=())), "does not join them"),
        (lambda p: rewired(p, lambda w: w._replace(route=tuple((a, b, 3) for a, b, _ in w.route))), "carries no light"),  # type: ignore[misc]
        (lambda p: replace(p, wiring=Wiring(())), "not those of its configuration"),
    ],
)
def test_what_is_wrong_with_a_place_is_found(change: Broken, words: str | None) -> None:
    """A job over two servers, whose place is spoilt in one way."""
    c = controller("lightpath", {"moves": False})
    placed(c, "other", 8)
    c.fail("s1.t7")
    c.fail("s1.t6:port")
    job, place = placed(c, "job", 12)
    assert len(place.servers) == 2
    guard = guard_of(c)
    objection = guard.objection(job, change(place))
    assert objection is None if words is None else objection is not None and words in objection
    c.cancel("job")
    assert guard.objection(job, place) is None


def test_what_the_user_asked_is_looked_at() -> None:
    """On a fabric where circuits say nothing of it."""
    c = controller("fat_tree", {"moves": False})
    job, place = placed(c, "job", 16)
    guard = guard_of(c)
    assert guard.objection(job, place) is None
    for limits, words in (({"one_server": True}, "2 servers, not in one"), ({"per_server": 4}, "gives 8 accelerators")):
        assert words in str(guard.objection(request("job", 16, constraints=limits), place))
    assert guard.objection(request("job", 16, constraints={"per_server": 8}), place) is None
    assert "not what the job asks for" in str(guard.objection(request("job", 8), place))
    assert "not what the job asks for" in str(guard.objection(job, replace(place, devices=place.devices[:2])))


def test_blocks_and_racks_are_looked_at() -> None:
    c = controller("lightpath", racks=2)
    job, place = placed(c, "whole", 8)
    block = place.row.shape.block
    swapped = (*place.devices[:-1], (1, 0)) if block > 1 else place.devices
    assert block == 1 or "lie in several servers" in str(guard_of(c).objection(job, replace(place, devices=swapped)))
    far = tuple((4 * (i % 2), i // 2) for i in range(8)) if block == 1 else tuple((4, s) for s in range(8))
    objection = guard_of(c).objection(job, replace(place, devices=far))
    assert block > 1 or "several racks" in str(objection)


def test_light_of_others_is_left_alone() -> None:
    """A job over two servers, and another one whose circuits take the same wavelengths of the same fibers."""
    c = controller("lightpath", {"moves": False}, servers=2)
    c.submit_all([request("a", 6), request("b", 6)])
    job, place = placed(c, "wide", 4)
    assert place.wiring.beams
    guard = guard_of(c)
    c.finish("a")
    thief = request("thief", 4)
    elsewhere = replace(place, devices=((0, 0), (0, 1), (1, 6), (1, 7)))
    here = {server for server, _ in elsewhere.devices}
    assert here == set(place.servers)
    assert "of fiber s" in str(guard._taken(elsewhere, {"thief"}))
    assert "belongs to wide" in str(guard._taken(elsewhere, {"thief"}))
    assert guard._taken(elsewhere, {"thief", "wide"}) is None
    assert guard.objection(thief, place) is not None
    assert guard.objection(job, place) is None


def test_where_slots_matter_waveguides_belong_to_jobs() -> None:
    c = controller("lightpath", waveguides="shared")
    job, place = placed(c, "job", 4)
    guard = guard_of(c)
    assert guard.objection(job, place) is None
    assert guard.objection(job, on(place, place.devices[1])) is not None


def test_a_place_that_is_refused_is_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of the search does not reach anybody: the job waits, and says so."""
    c = controller("fat_tree")
    monkeypatch.setattr(guard_of(c), "objection", lambda *given: "s0.g0 belongs to nobody")
    (wait, *_) = c.submit(request("job", 4))
    assert wait.body()["tag"] == "refused"
    assert c.num_free == 32
    assert c.counts.refused >= 1
    monkeypatch.undo()
    c.replan(1.0)
    assert "job" in c.running

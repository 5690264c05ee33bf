"""The look at every place before it is handed out finds what is wrong with it."""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from costmodel.fabrics import Sipam
from planner.candidates.expand import list_options
from planner.checks import check
from planner.controller import Controller
from planner.controller.validator import Validator, whole
from planner.fabrics.job_class import Option
from planner.fabrics.rack_links import RackLinks
from planner.fabrics.sipam.attachments import wiring_of
from planner.fabrics.sipam.free_state import PoolFreeState
from planner.fabrics.wiring import Wiring
from planner.model.cluster import Cluster
from planner.model.edit import edited
from planner.model.health import Health
from planner.model.instance import Instance
from planner.model.job import Job
from planner.placement.placement import Place
from tests.planner.controller.pooled import SCARCE, names_of, spread
from tests.planner.controller.sites import controller, request
from tests.planner.controller.validator_cases import Broken, guard_of, on, placed, rewired
from tests.planner.fabrics.joined_racks.racks import FABRICS, PACKETS, TRAINING


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
    assert place.wiring.fiber_masks
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


CASES = int(os.environ.get("GUARD_CASES", "30"))


def steps(place: Place, old: str, new: str) -> Place:
    """One part changed for another, by its name without the server, once."""
    left = [1]

    def changed(step: Any) -> Any:
        return new if step == old and left and left.pop() else step

    return rewired(place, lambda wire: wire._replace(route=tuple(map(changed, wire.route))))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda p: p, None),
        (lambda p: on(p, p.devices[1]), "hosts two ranks"),
        (lambda p: on(p, (1, 0)), "s1.a0 belongs to other"),
        (lambda p: on(p, (1, 7)), "s1.a7 has failed"),
        (lambda p: steps(p, "m0.u0", "m0.u29"), None),
        (lambda p: steps(p, "m0.u0", "m0.u30"), "are no units of the tray"),
        (lambda p: steps(p, "m0.u0", "m1.u29"), "are no units of the tray"),
        (lambda p: steps(p, "m0.u0", "m0.u1"), "serves 2 memory circuits"),
        (lambda p: steps(p, "m0.q0#0", "m0.q0#3"), None),
        (lambda p: steps(p, "m0.q0#0", "m0.q0#4"), "no port"),
        (lambda p: steps(p, "m0.q0#0", "m0.q1#0"), "on another rail"),
        (lambda p: steps(p, "q8#0", "q8#2"), None),
        (lambda p: steps(p, "q8#0", "q9#2"), "takes for each rail an uplink"),
        (lambda p: steps(p, "q8#0", "q8#9"), "takes for each rail an uplink"),
        (lambda p: rewired(p, lambda w: w if w.route else None), "lacks circuit"),
        (lambda p: replace_wiring(p, lambda key: key != "memory"), "memory circuits are needed for each rank"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_place_in_a_pool_is_found(change: Any, words: str | None) -> None:
    c = controller("sipam", units_per_tray=30)
    c.fail("s1.a7")
    job, place = spread(c)
    objection = guard_of(c).objection(job, change(place))
    assert objection is None if words is None else objection is not None and words in objection


def replace_wiring(place: Place, keeps: Any) -> Place:
    configurations = tuple((key, wires) for key, wires in place.wiring.configurations if keeps(key))
    return Place(place.kind, place.row, place.devices, Wiring(configurations))


def respun(random: Random, place: Place) -> Place:
    """One part of the pool changed for any other, one wire left out or on another rail, or two ranks exchanged."""
    used = [step for _, wires in place.wiring.configurations for wire in wires for step in wire.route]
    way = random.randrange(6)
    if way < 3 and used:
        tray, rail, number = random.randrange(3), random.randrange(13), random.randrange(5)
        new = random.choice([f"m{tray}.u{random.randrange(20)}", f"m{tray}.q{rail}#{number}", f"q{rail}#{number}"])
        old = random.choice(used)
        near = f"{old[:-1]}{random.randrange(5)}"
        return steps(place, old, random.choice([new, near, near]))
    wires = [wire for _, wires in place.wiring.configurations for wire in wires]
    if way == 3 and wires:
        wire = random.choice(wires)
        new_wire = random.choice([None, wire._replace(mask=1 << random.randrange(12))])
        return rewired(place, lambda each: new_wire if each == wire else each)
    one, two = random.randrange(len(place.devices)), random.randrange(len(place.devices))
    devices = list(place.devices)
    devices[one], devices[two] = devices[two], devices[one]
    return on(place, *devices)


def ground(random: Random, c: Controller, beside: Sequence[Place]) -> Cluster:
    """The cluster with some parts down that no job beside holds."""
    fabric, held = c.cluster.fabric, set[str]().union(*map(names_of, beside))
    assert isinstance(fabric, Sipam)

    def some(parts: Iterator[str]) -> tuple[str, ...]:
        able = [part for part in parts if part not in held]
        return tuple(random.sample(able, random.randrange(4))) if random.random() < 0.5 else ()

    trays = [fabric.tray_name(server, tray) for server in range(4) for tray in range(2)]
    health = Health(
        failed_memory_units=some(f"{tray}.u{u}" for tray in trays for u in range(fabric.units_per_tray)),
        failed_tray_ports=some(f"{tray}.q{rail}#{p}" for tray in trays for rail in range(8) for p in range(3)),
        failed_uplinks=some(
            fabric.uplink_name(server, rail, u) for server in range(4) for rail in (8, 9) for u in (0, 1)
        ),
        failed_switches=some(iter(fabric.switch_names)) if random.random() < 0.3 else (),
    )
    return edited(c.cluster, health=health)


def by_all_checks(where: Cluster, beside: Sequence[tuple[Job, Place]], job: Job, place: Place) -> bool:
    """Whether the plan of all is right, and what runs then can be stated as residents."""
    try:
        instance, plan = whole(where, beside, [(job, place)])
        whole(where, [*beside, (job, place)])
    except (ValueError, IndexError):
        return False
    return not check(instance, plan, starts=True)


@pytest.mark.slow
def test_a_place_in_a_pool_is_judged_as_by_all_checks() -> None:
    """Random places on random ground, one guard for all: what it remembers is of other places."""
    random, verdicts = Random("pools"), Counter[bool]()
    c = controller("sipam", {"moves": False, "preempts": False}, **SCARCE)
    guard = guard_of(c)
    for number in range(CASES):
        names = [f"j{number}.{i}" for i in range(random.randrange(1, 7))]
        for each in names:
            c.submit(request(each, random.choice((1, 2, 4, 8, 12, 16))))
        held = {each: (c.job(each).request, place) for each, place in c.running.items()}
        for one in random.choices([*held], k=4):
            job, place = held[one]
            beside = [of for other, of in held.items() if other != one]
            where = ground(random, c, [of for _, of in beside])
            if beside and check(*whole(where, beside), starts=True):
                where = c.cluster
            guard.healed(where)
            changed = place if random.random() < 0.4 else respun(random, place)
            expected = by_all_checks(where, beside, job, changed)
            said = guard.objection(job, changed)
            assert (said is None) == expected, (said, changed.devices, changed.wiring, where.health)
            verdicts[expected] += 1
        guard.healed(c.cluster)
        for each in names:
            c.cancel(each)
    assert min(verdicts[True], verdicts[False]) > CASES / 2


@pytest.mark.slow
def test_links_above_pools_are_looked_at_beside_their_uplinks() -> None:
    """Two jobs over the same two zones take all links of both, each also uplinks of its servers."""
    fabric = FABRICS["sipam"] | {"servers": 2, "accelerators_per_server": 2, "tray_ports": 2, "units_per_tray": 8}
    fabric |= {"uplinks": 2, "upper": PACKETS}
    jobs = [{"name": f"j{number}", "workload": TRAINING, "accelerators": 4} for number in range(2)]
    cluster: Any = {"device": "h100-sxm", "fabric": fabric, "health": {}}
    instance = Instance.parse(
        {"schema_version": 2, "name": "x", "cluster": cluster, "jobs": jobs, "objectives": ["value"]}
    )
    site = instance.cluster
    guard, free, said = Validator(site), PoolFreeState(site), list[str | None]()
    for slot, job in enumerate(instance.jobs):
        options, devices = list_options(instance, job), [(server, slot) for server in range(4)]
        row = next(r for r, s in enumerate(options.shapes) if (s.racks, s.block, s.links) == (2, 1, 2))
        free.links = RackLinks(site, site.fabric.upper_layer)  # as one that forgets what others hold
        found = free.assign_on(options, row, devices)
        assert found is not None
        wiring = wiring_of(found.circuits, found.memory, devices, site.fabric)
        place = Place("k", Option(options, row, 1.0, 1.0), tuple(devices), wiring, found.upper)
        said.append(guard.objection(job, place))
        guard.take(job, place)
    assert said[0] is None
    assert said[1] is not None
    assert "uplinks of r0" in said[1]

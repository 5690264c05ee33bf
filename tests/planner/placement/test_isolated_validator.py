"""On fabrics whose jobs share nothing but accelerators, places by themselves are checked once for all alike."""

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from costmodel.fabrics import OcsRail, Torus
from costmodel.fabrics.base import FabricBase
from planner.checks import check
from planner.controller.validator import whole
from planner.fabrics import plugin_of
from planner.fabrics.wiring import Wire, Wiring
from planner.model.cluster import Cluster
from planner.model.edit import edited
from planner.model.health import Health
from planner.model.job import Job
from planner.placement.isolated_validator import IsolatedValidator
from planner.placement.placement import Place
from tests.fabrics import PORTS
from tests.planner.controller.sites import controller, request
from tests.planner.controller.validator_cases import Broken, guard_of, on, placed, rewired

CASES = int(os.environ.get("GUARD_CASES", "12"))
"""random grounds on each fabric, with 4 places each"""
TAKEN_APART: dict[str, tuple[str, dict[str, Any]]] = {
    "ocs_rail": ("ocs_rail", {}),
    "torus": ("torus", {}),
    "torus in racks": ("torus", {"servers": 2, "racks": 2}),
    "torus without switches": ("torus", {"switches": None}),
    "sipac": ("sipac", {}),
    "fat tree": ("fat_tree", {}),
    "memory ring": ("memory_ring", {}),
    "fibers": ("lightpath", {}),
    "shared waveguides": ("lightpath", {"waveguides": "shared", "fibers": 2}),
    "light over third servers": ("lightpath", {"transit": 1}),
    "divided ports": ("fat_tree", PORTS),
}
"""fabrics on which places are judged"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda p: p, None),
        (lambda p: on(p, p.devices[4]), "hosts two ranks"),
        (lambda p: on(p, (0, 0)), "s0.g0 belongs to other"),
        (lambda p: on(p, (0, 7)), "s0.g7 has failed"),
        (lambda p: on(p, *p.devices[1::-1]), "do not lie on the same rails"),
        (lambda p: on(p, *p.devices[4:], *p.devices[:4]), None),
        (lambda p: rewired(p, lambda w: None), "lacks circuit"),
        (lambda p: rewired(p, lambda w: w._replace(destination=(w.destination + 1) % 8)), "lacks circuit"),
        (lambda p: rewired(p, lambda w: w._replace(mask=w.mask & w.mask - 1)), "lacks circuit"),
        (lambda p: rewired(p, lambda w: w._replace(mask=w.mask << 4)), "are not among 0 to 3"),
        (lambda p: rewired(p, lambda w: w._replace(route=("q0#0",))), "takes no fiber"),
        (lambda p: replace(p, wiring=Wiring(())), "configurations of circuits are needed"),
    ],
)
def test_what_is_wrong_on_rails_is_found(change: Broken, words: str | None) -> None:
    """A job with a block of 4 on each of two servers, beside a failed accelerator and that of another job."""
    c = controller("ocs_rail", {"moves": False}, servers=3)
    c.fail("s0.g7")
    placed(c, "other", 1)
    c.submit(request("job", 8, constraints={"per_server": 4}))
    job, place = c.job("job").request, c.running["job"]
    assert len(place.servers) == 2
    guard = guard_of(c)
    objection = guard.objection(job, change(place))
    assert objection is None if words is None else objection is not None and words in objection
    c.fail("q1#3")
    assert guard.objection(job, place) is not None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fabric", "change", "words"),
    [
        ("torus", lambda p: p, None),
        ("torus", lambda p: on(p, p.devices[1], p.devices[0]), "part 0"),
        ("torus", lambda p: on(p, *((s, g ^ 1) for s, g in p.devices)), "part 0 spans axis"),
        ("torus", lambda p: on(p, *((3, g) for _, g in p.devices)), None),
        ("torus", lambda p: on(p, (3, p.devices[0][1])), "lie in several servers"),
        ("torus", lambda p: rewired(p, lambda w: None), "lacks circuit"),
        ("torus", lambda p: rewired(p, lambda w: w._replace(route=("x1",))), "circuit"),
        ("torus", lambda p: replace(p, wiring=Wiring(())), "one entry of dimension slice needed"),
        ("sipac", lambda p: p, None),
        ("sipac", lambda p: on(p, p.devices[1], p.devices[0]), "has place"),
        ("sipac", lambda p: on(p, *((3, 7 - g) for _, g in reversed(p.devices))), None),
        ("sipac", lambda p: replace(p, wiring=Wiring((("slice", (Wire(0, 1, 1, ()),)),))), "are needed for nothing"),
    ],
)
def test_what_is_wrong_with_a_slice_is_found(fabric: str, change: Broken, words: str | None) -> None:
    c = controller(fabric, {"moves": False})
    placed(c, "other", 1)
    job, place = placed(c, "job", 4)
    objection = guard_of(c).objection(job, change(place))
    assert objection is None if words is None else objection is not None and words in objection


def moved(random: Random, place: Place, fabric: FabricBase) -> Place:
    """One device elsewhere, two exchanged, or all on other servers, in other slots."""
    devices, number = list(place.devices), len(place.devices)
    one, two = random.randrange(number), random.randrange(number)
    servers, slots = list(range(fabric.num_servers)), list(range(fabric.devices_per_server))
    way, flip = random.randrange(5), random.choice(slots)
    if way == 0:
        devices[one] = random.choice(servers), random.choice((devices[one][1], random.choice(slots)))
    elif way == 1:
        devices[one], devices[two] = devices[two], devices[one]
    else:
        random.shuffle(servers)
        slots = slots if way == 2 else random.sample(slots, len(slots)) if way == 3 else [slot ^ flip for slot in slots]
        devices = [(servers[server], slots[slot]) for server, slot in devices]
    return replace(place, devices=tuple(devices))


def redirected(random: Random, place: Place, fabric: FabricBase) -> Place:
    """One circuit changed or left out, all left out, or all there twice."""
    wires = [wire for _, wires in place.wiring.configurations for wire in wires]
    if not wires or random.random() < 0.2:
        return replace(place, wiring=random.choice([Wiring(()), Wiring(place.wiring.configurations * 2)]))
    wire, rank = random.choice(wires), random.randrange(len(place.devices))
    switch = random.choice(fabric.switch_names) if isinstance(fabric, OcsRail) else random.choice(["x0", "y1", "r1.z2"])
    ways = [
        None, wire._replace(destination=rank), wire._replace(source=rank), wire._replace(route=()),
        wire._replace(route=(switch,)), wire._replace(mask=random.randrange(1, 32)),
    ]  # fmt: skip
    new = random.choice(ways)
    return rewired(place, lambda each: new if each == wire else each)


def by_all_checks(
    cluster: Cluster, beside: Sequence[tuple[Job, Place]], job: Job, place: Place, *, starts: bool = True
) -> bool:
    """Whether the plan of all is right; what no plan can state is not. `starts`: the job does not run there already."""
    try:
        return not check(*whole(cluster, beside, [(job, place)]), starts=starts)
    except ValueError:
        return False


def health(random: Random, fabric: FabricBase, beside: Sequence[tuple[Job, Place]]) -> Health:
    """What has failed, apart from the accelerators of others."""
    used = {device for _, place in beside for device in place.devices}
    every = (divmod(number, fabric.devices_per_server) for number in range(fabric.num_devices))
    names = [fabric.device_name(*device) for device in every if device not in used]
    switches = fabric.switch_names if isinstance(fabric, OcsRail) else ()
    if isinstance(fabric, Torus) and fabric.switches is not None:
        racks = [f"r{rack}." for rack in range(fabric.racks)] if fabric.racks > 1 else [""]
        switches = tuple(f"{rack}{axis}{number}" for rack in racks for axis in "xyz" for number in range(4))

    def some(parts: Sequence[str]) -> tuple[str, ...]:
        return (random.choice(parts),) if parts and random.random() < 0.5 else ()

    return Health(failed_tiles=some(names), failed_ports=some(names), failed_switches=some(switches))


@pytest.mark.slow
@pytest.mark.parametrize("name", TAKEN_APART)
def test_a_place_is_judged_as_by_all_checks(name: str) -> None:
    """Random places on random ground, one guard for all of a fabric: what it remembers is of other places."""
    kind, changes = TAKEN_APART[name]
    random, c = Random(name), controller(kind, {"moves": False}, **changes)
    fabric, guard, verdicts = c.cluster.fabric, guard_of(c), Counter[bool]()
    sizes = (1, 2, 4, 8, 16) if fabric.has_circuits else (1, 2, 4, 8)
    for number in range(CASES):
        names = [f"j{number}.{i}" for i in range(random.randrange(1, 8))]
        c.submit_all([request(each, random.choice(sizes)) for each in names])
        held = {each: (c.job(each).request, place) for each, place in c.running.items()}
        for one in random.choices([*held], k=4):
            job, place = held[one]
            beside = [of for other, of in held.items() if other != one]
            cluster = edited(c.cluster, health=health(random, fabric, beside))
            if beside and check(*whole(cluster, beside), starts=True):
                cluster = c.cluster
            guard.healed(cluster)
            if random.random() < 0.2 and plugin_of(fabric).isolation.is_checked(fabric):
                job = edited(job, constraints={"per_server": random.choice((1, 2, 4))})
            change = random.choice([lambda random, place, fabric: place, moved, moved, redirected])
            changed = change(random, place, fabric)
            starts = len(changed.devices) > 1 or changed.devices[0] not in place.devices
            expected = by_all_checks(cluster, beside, job, changed, starts=starts)
            assert (guard.objection(job, changed) is None) == expected, (
                changed.devices,
                changed.wiring,
                cluster.health,
            )
            verdicts[expected] += 1
        guard.healed(c.cluster)
        for each in names:
            c.cancel(each)
    assert min(verdicts[True], verdicts[False]) > CASES / 2


@pytest.mark.slow
def test_places_alike_are_checked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slice at the same chips of another cube, or blocks on other servers and rails."""
    looked: list[Place] = []
    checked = IsolatedValidator._checked

    def counted(alone: IsolatedValidator, asked: str, job: Job, place: Place) -> str | None:
        looked.append(place)
        return checked(alone, asked, job, place)

    monkeypatch.setattr(IsolatedValidator, "_checked", counted)
    racks = {"servers": 2, "racks": 2}
    for fabric, changes in (("ocs_rail", {}), ("torus", {}), ("torus", racks), ("sipac", {})):
        c = controller(fabric, **changes)
        for name in "abcd":
            placed(c, name, 8)
        assert len(c.running) == 4
        assert len({place.servers for place in c.running.values()}) == 4
        assert [place.servers for place in looked] == [c.running["a"].servers]
        looked.clear()

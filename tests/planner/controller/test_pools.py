"""Racks with pooled memory: jobs take units, ports and uplinks with their accelerators, and give all of them back."""

import os
from collections import Counter
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import invariant, run_state_machine_as_test

from costmodel.fabrics import Sipam
from planner.controller import Controller, Decision, Move, Request, Start, Stop, Wait
from planner.fabrics.sipam.free_state import PoolFreeState
from planner.model.errors import InputError
from planner.model.files import load
from planner.model.instance import Instance
from tests.paths import ROOT
from tests.planner.controller import replaying
from tests.planner.controller.machine import PARTS, STEPS, Machine
from tests.planner.controller.pooled import SCARCE, names_of, spread
from tests.planner.controller.sites import chat, controller, request, started
from tests.planner.simulate.grounds import cluster

EVENTS = int(os.environ.get("CONTROLLER_EVENTS", "10000")) // 30


def switches_of(place: Any) -> set[str]:
    """Switches of servers that the circuits of a place begin at, or end in."""
    found = {f"{plug.device[:2]}.q{plug.rail}" for plug in place.memory}
    for circuit in (circuit for held in place.circuits for circuit in held.circuits):
        found |= {f"{end[:2]}.q{rail}" for end in (circuit.source, circuit.destination) for rail in circuit.wavelengths}
    return found


class Store:
    """Parts of a pool by the job that was told to take them; what is not there to give back, or to take, is a fault."""

    def __init__(self) -> None:
        self.owner: dict[str, str] = {}

    def carry_out(self, decisions: Sequence[Decision], down: set[str]) -> list[str]:
        found = []
        for each in decisions:
            if isinstance(each, Stop | Move) and each.before is not None:
                for name in names_of(each.before):
                    if self.owner.pop(name, None) != each.job:
                        found.append(f"{each.job} gives back {name}, which it does not hold")
        for each in decisions:
            if isinstance(each, Start | Move):
                assert (each.memory, each.circuits) == (each.place.memory, each.place.circuits)
                for name in names_of(each.place):
                    if self.owner.setdefault(name, each.job) != each.job or name in down:
                        found.append(f"{name} is not free for {each.job}")
        return found


def left_over(c: Controller) -> dict[tuple[str, int], int]:
    """Units and ports by server that the free state counts as free."""
    state = c._durable.state.free.state
    assert isinstance(state, PoolFreeState)
    parts = state.parts
    counts = {("unit", server): number for server, number in enumerate(parts.units)}
    return counts | {("port", server): number for server, number in enumerate(parts.ports)}


def expected(c: Controller) -> dict[tuple[str, int], int]:
    """The same, counted from the file of the cluster, what has failed, and the names that running jobs hold."""
    working = c._durable.state.free.cluster
    fabric, health = working.fabric, working.health
    assert isinstance(fabric, Sipam)
    gone = {*health.failed_memory_units, *health.failed_tray_ports}
    for place in c.running.values():
        gone |= {name for name in names_of(place) if ".m" in name}
    found: dict[tuple[str, int], int] = {}
    for server in range(fabric.num_servers):
        trays = [fabric.tray_name(server, tray) for tray in range(fabric.trays_per_server)]
        rails = [q for q in range(fabric.local_rails) if fabric.switch_name(q, server) not in health.failed_switches]
        units = {f"{tray}.u{number}" for tray in trays for number in range(fabric.units_per_tray)}
        ports = {f"{t}.q{q}#{number}" for t in trays for q in rails for number in range(fabric.tray_ports)}
        found["unit", server], found["port", server] = len(units - gone), len(ports - gone)
    return found


class PoolMachine(Machine):
    """The machine of all fabrics on a pool, with its parts followed by name."""

    fabric = "sipam"

    def follow(self, before: int, told: Sequence[tuple[Decision, ...]]) -> None:
        super().follow(before, told)
        store = self.__dict__.setdefault("store", Store())
        for record, decisions in zip(self.controller._durable.journal.records(before), told, strict=True):
            if "noted" not in record.body:
                assert store.carry_out(decisions, set(self.controller.down)) == []

    @invariant()
    def parts_are_conserved(self) -> None:
        if not hasattr(self, "controller"):
            return
        c = self.controller
        assert left_over(c) == expected(c)
        held = {name: job for job, place in c.running.items() for name in names_of(place)}
        assert held == (self.store.owner if hasattr(self, "store") else {})
        if self.naive.events % 8 == 0:
            assert c.check() == []


@pytest.mark.slow
def test_random_events_conserve_every_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also over crashes: `Machine` restarts the controller from its journal, and compares."""
    monkeypatch.setattr(replaying, "cluster", lambda fabric: cluster(fabric, **SCARCE))
    parts = ["s1", "s0.a1", "s2.a2:port", "s0.m0.u0", "s1.m1.u5", "s0.m0.q0#0", "s2.m1.q3#1", "s0.q8#0", "s1.q2", "q9"]
    monkeypatch.setitem(PARTS, "sipam", parts)
    machine = type("OnPool", (PoolMachine,), {"events": 0, "counts": Counter()})
    limits = settings(
        max_examples=4, stateful_step_count=STEPS // 4, deadline=None, database=None, print_blob=False,
        suppress_health_check=list(HealthCheck), phases=(Phase.generate,),
    )  # fmt: skip
    for number in count():
        run_state_machine_as_test(seed(number)(machine), settings=limits)  # type: ignore[no-untyped-call]
        if machine.events >= EVENTS:
            break
    assert machine.counts["refused"] == 0
    assert machine.counts["greedy"] > EVENTS / 20
    assert machine.counts["preempted"] > 0
    assert machine.counts["moves"] == machine.counts["joint"] == machine.counts["rescued"] == 0


CHATS = {
    "kind": "transformer_inference", "model": "llama-3.1-70b", "concurrency": 64, "input_tokens": 4096,
    "output_tokens": 512,
}  # fmt: skip
SLOW: dict[str, Any] = {
    "servers": 2, "accelerators_per_server": 16, "trays_per_server": 4, "units_per_tray": 40, "tray_ports": 8,
    "spine_rails": 2, "shoreline": {
        "name": "slow", "perimeter_mm": 96, "source": "assumption",
        "io": {"name": "slow-io", "width_mm": 8, "bandwidth": "600 GB/s", "source": "assumption"},
    },
}  # fmt: skip


@pytest.mark.slow
def test_a_job_whose_phases_divide_their_ports_differently_keeps_both_divisions(tmp_path: Path) -> None:
    """Circuits of one phase are named as such, to plans, to drivers and over a restart."""
    path = tmp_path / "journal.db"
    with Controller(cluster("sipam", **SLOW), path) as c:
        c.submit(request("chats", 8, workload=CHATS))
        place = c.running["chats"]
        phases = {circuit.phase for circuit in place.memory} | {held.phase for held in place.circuits}
        assert {"prefill", "decode"} & phases
        assert {each.get("phase") for each in place.circuits_json} == phases
        assert c.check() == []
    with Controller(journal=path) as again:
        assert (again.running["chats"].memory, again.running["chats"].circuits) == (place.memory, place.circuits)
        assert left_over(again) == expected(again)
        again.finish("chats")
        assert not any(again._durable.state.free.state.taken.values())


@pytest.mark.slow
def test_no_job_takes_more_memory_than_falls_to_its_accelerators() -> None:
    """All accelerators find memory: 48 units of a server for its 8 accelerators."""
    c = controller("sipam")
    assert started(c.submit_all([request(f"j{i}", 4) for i in range(8)])) == [f"j{i}" for i in range(8)]
    assert {sum(len(plug.units) for plug in place.memory) for place in c.running.values()} == {24}
    assert c.num_free == 0
    assert c.check() == []


def test_drivers_are_told_of_light_into_memory() -> None:
    """Both ways between accelerator and port, on the rail of the port; a single accelerator has no other circuit."""
    c = controller("sipam")
    c.submit(request("job"))
    place = c.running["job"]
    assert place.circuits == ()
    (held,) = place.circuits_json
    ways = {(each["from"], each["to"], *each["wavelengths"]) for each in held["circuits"]}
    assert ways == {way for p in place.memory for way in ((p.device, p.port, p.rail), (p.port, p.device, p.rail))}
    assert place.num_ports == 1


@pytest.mark.slow
def test_who_waits_for_memory_is_told_so() -> None:
    """Accelerators are free, and almost all units have failed."""
    c = controller("sipam", servers=1, trays_per_server=1, units_per_tray=16)
    for number in range(1, 16):
        c.fail(f"s0.m0.u{number}")
    wait = c.submit(request("job", 2))[-1]
    assert isinstance(wait, Wait)
    assert wait.tag == "memory"
    assert "each takes at least 1 memory unit over 1 port, and only 1 finds that" in wait.because
    assert started(c.repair("s0.m0.u5")) == ["job"]
    assert c.check() == []


@pytest.mark.slow
@pytest.mark.parametrize("accelerators", [1, 2, 4])
def test_those_who_hold_the_memory_give_way(accelerators: int) -> None:
    """Four jobs hold all units, and four accelerators are free; nobody is stopped who could have stayed."""
    c = controller("sipam", {"moves": False}, servers=1, units_per_tray=4, tray_ports=4, uplinks=2)
    waits: list[Any] = []
    while not waits:
        waits = [d for d in c.submit(chat(f"low{len(c.running)}", 1)) if isinstance(d, Wait)]
    assert len(c.running) == 4
    answer = c.submit(chat("high", accelerators, priority=10))
    assert started(answer) == ["high"]
    assert 1 <= len([d for d in answer if isinstance(d, Stop)]) <= accelerators
    assert c.check() == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["unit", "port", "uplink", "switch"])
def test_a_job_whose_part_fails_goes_on_with_others(kind: str) -> None:
    c = controller("sipam", {"downtime_s": 5}, units_per_tray=30)
    _, place = spread(c)
    (first, *_) = place.memory
    fibers = [name for held in place.circuits for each in held.circuits for name in each.fibers]
    part = {"unit": first.units[0], "port": first.port, "uplink": fibers[0], "switch": f"s0.q{first.rail}"}[kind]
    hit = [name for name, at in c.running.items() if part in names_of(at) | switches_of(at)]
    told = c.fail(part)
    assert [(type(each), each.job) for each in told] == [(Move, name) for name in hit]
    assert c.check() == []
    assert left_over(c) == expected(c)
    if kind != "switch":
        assert part not in names_of(c.running["job"])
    c.repair(part)
    assert left_over(c) == expected(c)


@pytest.mark.slow
def test_a_large_job_is_kept_room_for_until_it_starts() -> None:
    """Small jobs without a limit never take the servers that are kept for one that needs all memory of two."""
    c = controller("sipam")
    c.submit_all([request(f"first{i}", 8) for i in range(4)])
    c.submit(request("large", 16))
    kept = c.view().reserved.servers
    assert len(kept) == 2
    for i in range(4):
        c.submit(request(f"small{i}", 1))
    for name in [name for name, place in c.running.items() if place.servers[0] in kept]:
        c.finish(name)
    assert "large" in c.running
    assert set(c.running["large"].servers) == set(kept)


PROVIDERS = ROOT / "instances" / "providers"


def test_optical_modules_of_each_accelerator_are_served() -> None:
    """A module belongs to one accelerator, so that jobs share nothing but accelerators."""
    instance = load(Instance, PROVIDERS / "optical_hbm.yaml")
    c = Controller(instance.cluster)
    job = next(job for job in instance.jobs if job.name == "llama8b-serve")
    asked = Request.model_validate(job.model_dump(mode="json", by_alias=True, exclude_unset=True))
    assert started(c.submit(asked)) == ["llama8b-serve"]
    assert c.check() == []


def test_appliances_that_accelerators_share_are_refused() -> None:
    instance = load(Instance, PROVIDERS / "appliance.yaml")
    with pytest.raises(InputError, match="hands out no shared appliances"):
        Controller(instance.cluster)


def test_a_job_that_lost_an_accelerator_finds_another_place() -> None:
    """The search for it has no end: nothing may be remembered of a strategy that a controller makes for one search."""
    site = controller("sipam")
    site.submit_all([request("j", 4), request("k", 4)])
    before = site.running["j"].devices
    site.fail(site.running["j"].device_names[0])
    assert before[0] not in site.running["j"].devices
    assert len(site.running["j"].devices) == 4

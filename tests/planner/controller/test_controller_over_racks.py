"""A controller of joined racks: what runs obeys the rules after every event, over restarts and cuts at any write."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from planner.controller import Controller, Decision, Move, Start, driver_calls
from planner.controller.switch_reconciler import SwitchReconciler
from planner.integrations.switch_drivers import driver_of
from planner.model.cluster import Cluster
from planner.model.edit import edited
from planner.placement.placement import Place
from tests.oracles.controller import replayed
from tests.planner.controller.over_racks import held_above, joined, opened, racks_of, step, training
from tests.planner.controller.power_cuts import PowerCutError, power_cut
from tests.planner.fabrics.joined_racks.racks import FABRICS, KINDS

EVERY = [(fabric, upper) for fabric in FABRICS for upper in KINDS if fabric != "sipam" or upper == "switches"]
"""pools take longest, and what joins them is what joins others"""


@pytest.mark.parametrize(("fabric", "upper"), EVERY)
def test_what_runs_obeys_the_rules_and_is_there_again(fabric: str, upper: str, tmp_path: Path) -> None:
    cluster, path, random, down = joined(fabric, upper), tmp_path / "journal.db", Random(7), list[str]()
    controller, spread = opened(cluster, path), 0
    sizes = [1, 2, 4, 6, 8, 12]
    for number in range(24):
        step(controller, random, number, down, sizes)
        assert controller.check() == []
        assert controller.counts.refused == 0
        spread += any(len(racks_of(place)) > 1 for place in controller.running.values())
        if number % 8 == 7:
            state, above = controller.state(), held_above(controller)
            controller.close()
            naive = replayed(path).state()
            assert {name: state[name] for name in naive} == naive
            controller = opened(cluster, path)
            assert (controller.state(), held_above(controller)) == (state, above)
    assert spread > 2
    controller.close()


STORY: tuple[Callable[[Controller], tuple[Decision, ...]], ...] = (
    lambda c: c.submit(training("a", 8, duration_s=500), key="0", at_s=0),
    lambda c: c.submit(training("b", 2), key="1", at_s=10),
    lambda c: c.fail("u0", key="2", at_s=20),
    lambda c: c.submit(training("c", 6, priority=2), key="3", at_s=30),
    lambda c: c.cancel("b", key="4", at_s=40),
    lambda c: c.repair("u0", key="5", at_s=50),
    lambda c: c.submit(training("d", 4), key="6", at_s=60),
    lambda c: c.cancel("a", key="7", at_s=70),
)


def _told(controller: Controller) -> list[list[dict[str, Any]]]:
    return [[each.body() for each in call(controller)] for call in STORY]


@pytest.mark.slow
def test_a_cut_at_any_write_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = joined("lightpath", "switches", radix=3)
    with opened(cluster, tmp_path / "whole.db") as controller:
        whole = _told(controller)
        state, above = controller.state(), held_above(controller)
        assert [racks_of(place) for place in controller.running.values()] != [[0]]
    with power_cut(monkeypatch, (0, False)) as came:
        _told(opened(cluster, tmp_path / "counted.db"))
    for number in range(1, len(came) + 1, 9):
        path = tmp_path / f"cut{number}.db"
        with power_cut(monkeypatch, (number, number % 2 == 1)), pytest.raises(PowerCutError):
            _told(opened(cluster, path))
        with opened(cluster, path) as controller:
            assert _told(controller) == whole
            assert (controller.state(), held_above(controller)) == (state, above)


def test_a_job_over_racks_goes_over_another_switch_or_waits() -> None:
    """u0 and u1 have a port of each rack."""
    controller = opened(joined("lightpath", "switches", radix=3))
    (start,) = controller.submit(training("a", 8))
    assert isinstance(start, Start)
    assert len(racks_of(start.place)) == 2
    over = {circuit.over for circuit in start.upper}
    assert over
    (move,) = controller.fail(min(over))
    assert isinstance(move, Move)
    assert {circuit.over for circuit in move.upper} == {"u0", "u1"} - {min(over)}
    decisions = controller.fail("u1" if min(over) == "u0" else "u0")
    assert {each.d for each in decisions} == {"stop", "wait", "reserve"}
    (start,) = [each for each in controller.repair("u0") if isinstance(each, Start)]
    assert {circuit.over for circuit in start.upper} == {"u0"}
    assert controller.check() == []


def test_a_fiber_between_racks_fails() -> None:
    controller = opened(joined("sipac", "fibers", fibers=2))
    controller.submit(training("a", 8))
    before = controller.running["a"]
    controller.fail(before.upper[0].over)
    after = controller.running["a"]
    assert before.upper[0].over not in {circuit.over for circuit in after.upper}
    assert controller.check() == []


def test_racks_are_kept_for_a_job_that_none_holds() -> None:
    """All racks have a tile in use: the two that are free first are kept, who would stay longer goes elsewhere."""
    controller = opened(joined("lightpath", "packets"), preempts=False, moves=False)
    for name, limit in (("a", 100), ("b", 900), ("c", 200)):
        controller.submit(training(name, 4, duration_s=limit), at_s=0)
    decisions = controller.submit(training("big", 8), at_s=1)
    reserve = next(each for each in decisions if each.d == "reserve")
    kept = {racks_of(controller.running[name])[0] for name in ("a", "c")}
    assert {server // 2 for server in reserve.servers} == kept
    assert reserve.at_s == 200
    controller.finish("a", at_s=100)
    controller.submit(training("long", 2), at_s=101)
    controller.submit(training("short", 2, duration_s=50), at_s=102)
    assert set(controller.running) == {"b", "c", "short"}
    controller.finish("short", at_s=152)
    decisions = controller.finish("c", at_s=200)
    assert "big" in {each.job for each in decisions if isinstance(each, Start)}
    assert controller.check() == []


@pytest.mark.parametrize("drained", [0, 1])
@pytest.mark.parametrize(("fabric", "size"), [("lightpath", 8), ("torus", 16), ("sipam", 8)])
def test_a_job_over_racks_stands_on_no_drained_server(fabric: str, size: int, drained: int) -> None:
    """Two of three empty racks hold it; of one of the three the last server is drained, and stands for no other."""
    c = opened(joined(fabric, "packets"))
    at = c.cluster.fabric
    server = at.server_name((drained + 1) * at.num_servers // at.racks - 1)
    c.drain(server)
    c.submit(training("wide", size))
    assert server not in {at.server_name(number) for number in c.running["wide"].servers}
    assert c.check() == []


def test_links_are_why_a_job_waits() -> None:
    controller = opened(joined("lightpath", "switches", ports=1, radix=3))
    controller.fail("u0")
    decisions = controller.submit(training("a", 6))
    (wait,) = [each for each in decisions if each.d == "wait"]
    assert wait.tag == "light"
    assert "links between racks" in wait.because


def test_a_job_of_higher_priority_takes_racks_of_others() -> None:
    controller = opened(joined("torus", "packets"))
    for name in "abc":
        controller.submit(training(name, 8, preemptible=True))
    decisions = controller.submit(training("big", 16, priority=5))
    assert [each.job for each in decisions if each.d == "start"] == ["big"]
    assert sum(each.d == "stop" for each in decisions) == 2
    assert controller.check() == []


@pytest.mark.parametrize("asked", [{}, {"per_server": 2, "servers_by_rack": [1, 1, 1]}])
def test_neighbours_move_in_each_rack_of_a_job(asked: dict[str, Any]) -> None:
    """Every server has one tile in use, and no fiber: in each of three racks one job moves for a part of two ranks."""
    fabric = FABRICS["lightpath"] | {"fibers": 0, "upper": KINDS["switches"]}
    controller = opened(Cluster.model_validate({"device": "h100-sxm", "fabric": fabric}), downtime_s=1)
    controller.submit_all([training(f"j{number}", 1) for number in range(12)])
    first = {place.servers[0]: name for name, place in controller.running.items()}
    for name in first.values():
        controller.finish(name)
    decisions = controller.submit(training("big", 6, constraints=asked))
    moves = [each for each in decisions if isinstance(each, Move)]
    assert [{place[:2] for place in each.devices} for each in moves] == [{"r0"}, {"r1"}, {"r2"}]
    assert racks_of(controller.running["big"]) == [0, 1, 2]
    assert controller.check() == []


def _first(place: Place, **changes: str) -> Place:
    return replace(place, upper=(place.upper[0].model_copy(update=changes), *place.upper[1:]))


BROKEN: dict[str, tuple[Callable[[Place], Place], str]] = {
    "too few": (lambda place: replace(place, upper=place.upper[1:]), "has 1 links"),
    "none": (lambda place: replace(place, upper=()), "has 0 links"),
    "twice": (lambda place: replace(place, upper=(place.upper[0], *place.upper[:1], *place.upper[2:])), "r0.p0 out"),
    "of another rack": (lambda place: _first(place, source="r2.p0"), "links from r"),
    "no such port": (lambda place: _first(place, source="r0.p9"), "no circuit leads"),
    "no such switch": (lambda place: _first(place, over="u7"), "no circuit leads"),
    "in unequal parts": (lambda place: replace(place, devices=(place.devices[-1], *place.devices[1:])), "ranks"),
}


@pytest.mark.parametrize("wrong", BROKEN)
@pytest.mark.parametrize("fabric", FABRICS)
def test_the_validator_refuses_what_is_wrong_between_racks(fabric: str, wrong: str) -> None:
    controller = opened(joined(fabric, "switches"))
    controller.submit(training("a", 16 if fabric == "torus" else 8))
    place, request = controller.running["a"], controller.job("a").request
    assert len(place.upper) == 4
    controller.finish("a")
    validator, (broken, said) = controller._durable.state.validator, BROKEN[wrong]
    assert validator.objection(request, place) is None
    objection = validator.objection(request, broken(place)) or ""
    assert said in objection or "two ranks" in objection


def test_a_port_of_another_job_is_refused() -> None:
    """The place is one on racks that have the other accelerators of these alone: it takes the first ports too."""
    wide = {"ports": 4, "radix": 12}
    controller = opened(joined("sipac", "switches", **wide))
    controller.submit(training("a", 6))
    first = controller.running["a"]
    cluster = controller.cluster
    health = edited(cluster.health, failed_tiles=first.device_names)
    other = opened(edited(cluster, health=health))
    other.submit(training("b", 6))
    second = other.running["b"]
    assert racks_of(first) == racks_of(second)
    objection = controller._durable.state.validator.objection(training("b", 6), second)
    assert objection is not None
    assert objection.endswith("belongs to a")


def test_switches_above_racks_are_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver_calls, "PATIENCE_S", 60.0)
    controller = opened(joined("lightpath", "switches"))
    driver = driver_of({"kind": "file"}, tmp_path)
    carrier = SwitchReconciler(controller, driver)
    controller.submit(training("a", 8))
    carrier.tick()
    place = controller.running["a"]
    assert carrier.connected("a", place)
    (above,) = [each for each in driver.applied()["a"] if each["dimension"] == "racks"]
    assert {circuit["from"] for circuit in above["circuits"]} == {circuit.source for circuit in place.upper}
    assert not driver.resync().failed
    controller.finish("a")
    carrier.tick()
    assert driver.applied() == {}

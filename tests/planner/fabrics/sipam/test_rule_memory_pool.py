"""Checks of pooled racks: a good plan passes, and each way to break it is noticed by the right rule."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import pytest

from planner.checks import check
from planner.model.instance import Instance
from planner.model.plan import Plan
from planner.model.result import SolveOptions
from planner.pipeline import solve
from tests.oracles.tiny_pools import SMALL

FABRIC: dict[str, Any] = {
    "kind": "sipam", "servers": 2, "accelerators_per_server": 2,
    "shoreline": {"name": "edge", "perimeter_mm": 32, "io": "photonic-io", "source": "test"},
    "memory_unit": "memory-unit", "trays_per_server": 2, "units_per_tray": 6, "tray_ports": 2,
    "spine_rails": 2, "uplinks": 2, "switch_ports": 16,
    "alpha": "0.7 us", "reconfiguration": "25 us", "energy": "2 pJ/b",
}  # fmt: skip
WORKLOAD = {
    "kind": "transformer_training", "model": SMALL, "global_batch": 12, "sequence": 128, "micro_batch": 1,
}  # fmt: skip
Fields = dict[str, Any]


def pool(**health: Any) -> Instance:
    jobs = [
        {"name": "wide", "workload": WORKLOAD, "accelerators": 3},
        {"name": "x", "workload": WORKLOAD, "accelerators": 1},
    ]
    cluster = {"device": "h100-sxm", "fabric": FABRIC, "health": health}
    return Instance.parse({"schema_version": 1, "name": "p", "cluster": cluster, "objectives": ["value"], "jobs": jobs})


@lru_cache(maxsize=1)
def good() -> Plan:
    """A job of three ranks over two servers, and one of one rank."""
    result = solve(pool(), options=SolveOptions(time_limit_s=600.0, workers=1, deterministic_limit=10.0))
    assert result.plan is not None
    assert len({name.partition(".")[0] for name in result.plan["wide"].devices}) == 2
    return result.plan


def broken(change: Callable[[Fields], None]) -> set[str]:
    """Rules that a changed plan breaks."""
    data = good().model_dump(mode="json")
    change(data)
    return {violation.rule for violation in check(pool(), Plan.model_validate(data))}


def of(data: Fields, job: str) -> Fields:
    return next(each for each in data["assignments"] if each["job"] == job)


def test_a_good_plan_breaks_no_rule() -> None:
    assert check(pool(), good()) == []
    switches = good().switches
    assert switches is not None
    assert switches.before == ()
    assert switches.time_s == pytest.approx(25e-6)
    assert {state.switch for state in switches.after} >= {"s0.q0", "q2"}


def _no_memory(data: Fields) -> None:
    of(data, "x")["memory"] = []


def _two_units_swapped(data: Fields) -> None:
    wide = of(data, "wide")["memory"]
    wide[0]["units"] = wide[1]["units"]


def _foreign_unit(data: Fields) -> None:
    plug = of(data, "x")["memory"][0]
    tray = int(plug["port"].split(".m")[1][0])
    plug["units"] = [name.replace(f".m{tray}.", f".m{1 - tray}.") for name in plug["units"]]


def _fewer_units(data: Fields) -> None:
    plug = of(data, "x")["memory"][0]
    plug["units"] = plug["units"][:-1]


def _same_rail_twice(data: Fields) -> None:
    plugs = of(data, "x")["memory"]
    assert len(plugs) == 2
    plugs[1]["rail"] = plugs[0]["rail"]
    plugs[1]["port"] = plugs[1]["port"].replace(".q1#", ".q0#").replace(".q0#0", ".q0#1")


def _port_of_another_server(data: Fields) -> None:
    plug = of(data, "x")["memory"][0]
    plug["port"] = plug["port"].replace("s0", "sX").replace("s1", "s0").replace("sX", "s1")


def _unknown_port(data: Fields) -> None:
    of(data, "x")["memory"][0]["port"] = "s0.m9.q0#0"


@pytest.mark.parametrize(
    "change",
    [
        _no_memory,
        _two_units_swapped,
        _foreign_unit,
        _fewer_units,
        _same_rail_twice,
        _port_of_another_server,
        _unknown_port,
    ],
)
def test_memory(change: Callable[[Fields], None]) -> None:
    assert "memory_pool" in broken(change)


def crossing(data: Fields) -> Fields:
    """A circuit between two servers."""
    return next(c for held in of(data, "wide")["circuits"] for c in held["circuits"] if c["fibers"])


def _no_uplinks(data: Fields) -> None:
    crossing(data)["fibers"] = []


def _one_uplink_twice(data: Fields) -> None:
    circuits = [c for held in of(data, "wide")["circuits"] for c in held["circuits"] if c["fibers"]]
    rails = {tuple(c["wavelengths"]): c for c in circuits}
    first, *others = [c for c in circuits if c["wavelengths"] == next(iter(rails.values()))["wavelengths"]]
    assert others
    others[-1]["fibers"] = first["fibers"]


def _local_rail(data: Fields) -> None:
    circuit = crossing(data)
    circuit["wavelengths"] = [0, *circuit["wavelengths"][1:]]


def _rail_of_memory(data: Fields) -> None:
    wide = of(data, "wide")
    inside = next(c for held in wide["circuits"] for c in held["circuits"])
    inside["wavelengths"] = [wide["memory"][0]["rail"], *inside["wavelengths"][1:]]


def _torn_blocks(data: Fields) -> None:
    wide = of(data, "wide")
    wide["devices"] = [wide["devices"][0], wide["devices"][2], wide["devices"][1]]
    if wide["devices"][0].partition(".")[0] != wide["devices"][2].partition(".")[0]:
        wide["devices"] = [wide["devices"][1], wide["devices"][0], wide["devices"][2]]


@pytest.mark.parametrize("change", [_no_uplinks, _one_uplink_twice, _local_rail, _rail_of_memory, _torn_blocks])
def test_network(change: Callable[[Fields], None]) -> None:
    assert "pool_network" in broken(change)


def _no_switches(data: Fields) -> None:
    data["switches"] = None


def _two_outputs_swapped(data: Fields) -> None:
    pairs = data["switches"]["after"][0]["connections"]
    pairs[0][1], pairs[1][1] = pairs[1][1], pairs[0][1]


def _superfluous(data: Fields) -> None:
    data["switches"]["after"][0]["connections"].append(["s9.a0", "s9.a1"])


def _joined_twice(data: Fields) -> None:
    pairs = data["switches"]["after"][0]["connections"]
    pairs.append([pairs[0][0], "s0.a9"])


def _no_time(data: Fields) -> None:
    data["switches"]["time"] = 0


def _something_before(data: Fields) -> None:
    data["switches"]["before"] = data["switches"]["after"][:1]


@pytest.mark.parametrize(
    "change", [_no_switches, _two_outputs_swapped, _superfluous, _joined_twice, _no_time, _something_before]
)
def test_light(change: Callable[[Fields], None]) -> None:
    assert "pool_light" in broken(change)


@pytest.mark.parametrize(
    ("kind", "rule"),
    [
        ("memory_units", "memory_pool"),
        ("tray_ports", "memory_pool"),
        ("uplinks", "pool_network"),
        ("ports", "memory_pool"),
    ],
)
def test_failed_parts(kind: str, rule: str) -> None:
    plan = good()
    plug = plan["x"].memory[0]
    fibers = [name for held in plan["wide"].circuits for c in held.circuits for name in c.fibers]
    part = {"memory_units": plug.units[0], "tray_ports": plug.port, "uplinks": fibers[0], "ports": plan["x"].devices[0]}
    found = {violation.rule for violation in check(pool(**{f"failed_{kind}": [part[kind]]}), plan)}
    assert rule in found


def test_failed_switches() -> None:
    plan = good()
    server, rail = plan["x"].devices[0].partition(".")[0], plan["x"].memory[0].rail
    assert "memory_pool" in {v.rule for v in check(pool(failed_switches=[f"{server}.q{rail}"]), plan)}
    assert "pool_network" in {v.rule for v in check(pool(failed_switches=["q2", "q3"]), plan)}

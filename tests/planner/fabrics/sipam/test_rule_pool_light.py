"""Light between accelerators and memory: each way to break it is noticed."""

from collections.abc import Callable

import pytest

from costmodel.fabrics import Sipam
from planner.checks import check
from planner.fabrics.sipam.rule_parts import PoolParts
from planner.model.plan import Circuit, Plan
from tests.planner.fabrics.sipam.plans import Fields, broken, good, pool


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


def _circuit_between_servers() -> Circuit:
    held = good()["wide"].circuits
    pairs = (circuit for each in held for circuit in each.circuits)
    return next(each for each in pairs if each.source.partition(".")[0] != each.destination.partition(".")[0])


@pytest.mark.parametrize("passed", ["the server", "the rack"])
def test_light_passes_the_ports_of_switches_alone(passed: str) -> None:
    """A switch that leads to the accelerator itself, past the switch of its server, or past that of the rack, too."""
    circuit = _circuit_between_servers()
    rail, source, end = circuit.wavelengths[0], circuit.source, circuit.destination
    of_server = f"{source.partition('.')[0]}.q{rail}"
    data = good().model_dump(mode="json")
    states = {state["switch"]: state["connections"] for state in data["switches"]["after"]}
    out = dict(states[of_server])[source]
    switch, entered = (f"q{rail}", out) if passed == "the server" else (of_server, source)
    states[switch][:] = [[a, end if a == entered else b] for a, b in states[switch]]
    told = [violation.message for violation in check(pool(), Plan.model_validate(data))]
    assert f"after: {end} is no port of {switch}" in told
    assert any(each.startswith(f"after: light of {source} on rail {rail} ends at ") for each in told)


@pytest.mark.parametrize(
    ("switch", "ports"),
    [
        ("s0.q0", ["s0.a0", "s0.a1", "s0.m0.q0#0", "s0.m0.q0#1", "s0.m1.q0#0", "s0.m1.q0#1"]),
        ("s1.q3", ["s1.a0", "s1.a1", "s1.q3#0", "s1.q3#1"]),
        ("q2", ["s0.q2#0", "s0.q2#1", "s1.q2#0", "s1.q2#1"]),
        ("q0", []),  # a rail that stays in servers
        ("s0.q4", []),
        ("s2.q0", []),
        ("r0.q2", []),
    ],
)
def test_ports_of_a_switch(switch: str, ports: list[str]) -> None:
    cluster = pool().cluster
    assert isinstance(cluster.fabric, Sipam)
    assert sorted(PoolParts(cluster, cluster.fabric).ports_of(switch)) == ports

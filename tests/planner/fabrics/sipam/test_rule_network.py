"""Circuits of the pool's network: each way to break them is noticed."""

from collections.abc import Callable

import pytest

from planner.checks import check
from tests.planner.fabrics.sipam.plans import Fields, broken, good, of, pool


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


def test_a_collective_of_fewer_radices_is_told_and_no_crash() -> None:
    def fewer(data: Fields) -> None:
        of(data, "wide")["configuration"]["data_collective"] |= {"kind": "radix", "radices": [3], "wavelengths": [1, 1]}

    assert "listed" in broken(fewer)

"""Checks of pooled racks: a good plan passes, and each way to break it is noticed by the right rule."""

from collections.abc import Callable
from itertools import combinations

import pytest

from planner.checks import check
from planner.model.plan import Plan
from tests.planner.fabrics.sipam.plans import Fields, broken, good, of, pool


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


def test_a_port_of_two_ranks_is_told_by_name() -> None:
    data = good().model_dump(mode="json")
    plugs = [plug for each in data["assignments"] for plug in each["memory"]]
    at = [(plug["port"].split(".")[0], plug["rail"]) for plug in plugs]
    one, two = next((plugs[a], plugs[b]) for a, b in combinations(range(len(plugs)), 2) if at[a] == at[b])
    two["port"] = one["port"]
    found = {violation.message for violation in check(pool(), Plan.model_validate(data))}
    assert f"{one['port']} serves 2 memory circuits" in found

"""Fibers and wavelengths along the way of a circuit, and the tracing of light."""

import pytest

from costmodel.fabrics import Lightpath
from planner.fabrics.lightpath.rule_light import trace
from planner.model.plan import Circuit
from tests.planner.checks.good import Case, crossing, ring
from tests.planner.checks.plans import LIGHTPATH, broken, rewired
from tests.planner.fabrics.lightpath.rules_cases import THERE


@pytest.mark.parametrize(
    "fibers",
    ["", "s1>s0#0", "s0>s1#2", "s0>s1#00", "s0>s1", "s0>s0#0", "s0>s9#0", "x", "s0>s1#0 s0>s1#1"],
)
def test_wrong_fiber_between_servers(fibers: str) -> None:
    instance, plan = ring()
    assert broken(instance, rewired(plan, "ring", f"s0.t1 s1.t0 0,1 {fibers}")) == {"path"}


def test_fiber_inside_a_server() -> None:
    instance, plan = ring()
    assert broken(instance, rewired(plan, "ring", "s0.t0 s0.t1 0,1 s0>s1#1")) == {"path"}


def test_failed_fiber() -> None:
    for index, rules in ((0, {"path"}), (1, set())):
        instance, plan = ring(health={"failed_fibers": [{"from": "s0", "to": "s1", "index": index}]})
        assert broken(instance, plan) == rules


def test_fiber_of_a_bundle() -> None:
    """Bundles are one way: two fibers to s1, one back."""
    back: Case = ring({"fibers": [{"from": "s0", "to": "s1", "count": 2}, {"from": "s1", "to": "s0", "count": 1}]})
    assert broken(*back) == {"path"}
    instance, plan = back
    assert broken(instance, rewired(plan, "ring", "s1.t1 s0.t0 0,1 s1>s0#0")) == set()


@pytest.mark.parametrize("wavelengths", ["0,4", "-1,0", "3,100"])
def test_wavelength_numbers(wavelengths: str) -> None:
    instance, plan = ring()
    assert broken(instance, rewired(plan, "ring", f"s0.t0 s0.t1 {wavelengths}")) == {"path"}


def test_a_wavelength_named_twice() -> None:
    instance, plan = ring()
    assert broken(instance, rewired(plan, "ring", "s0.t0 s0.t1 0,1,1")) == {"path"}


def test_wavelengths_of_a_fiber() -> None:
    """A fiber of two wavelengths carries 0 and 1; inside a server all four exist."""
    instance, plan = ring({"wavelengths_per_fiber": 2})
    assert broken(instance, rewired(plan, "ring", "s0.t0 s0.t1 2,3")) == set()
    assert broken(instance, rewired(plan, "ring", "s0.t1 s1.t0 2,3 s0>s1#1")) == {"path"}


def test_trace_agrees_with_the_fabric() -> None:
    """All pairs of slots of a 4 x 8 server."""
    fabric = Lightpath.model_validate({**LIGHTPATH, "tiles_per_server": 32, "tile_rows": 4})
    for a in range(32):
        for b in range(32):
            circuit = Circuit(source=f"s1.t{a}", destination=f"s1.t{b}", wavelengths=(0,))
            path = trace(fabric, circuit)
            assert path is not None
            assert path.boundaries == fabric.segments(1, a, b)


@pytest.mark.parametrize(
    "fibers",
    [
        "",
        "s0>s1#0",
        "s1>s2#1",
        "s1>s2#1 s0>s1#0",
        "s0>s1#0 s0>s1#1",
        "s0>s1#0 s1>s2#2",
        "s0>s2#0",
    ],
)
def test_fibers_that_do_not_lead_there(fibers: str) -> None:
    instance, plan = crossing()
    assert broken(instance, rewired(plan, "ring", f"{THERE} {fibers}")) == {"path"}


def test_more_servers_than_may_be_crossed() -> None:
    for transit, rules in ((0, {"path"}), (1, set()), (2, set())):
        instance, plan = crossing({"transit": transit})
        assert broken(instance, plan) == rules


def test_a_server_visited_twice() -> None:
    """Back to the first server and out again: more fibers would be allowed, the same server is not."""
    instance, plan = crossing({"transit": 3})
    again = rewired(plan, "ring", f"{THERE} s0>s1#0 s1>s0#1 s0>s1#1 s1>s2#1")
    assert broken(instance, again) == {"path"}

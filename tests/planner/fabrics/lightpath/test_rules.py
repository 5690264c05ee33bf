"""Circuits that cross a third server: each rule broken alone, on a row of three servers."""

import pytest

from planner.checks.objectives import fragmentation
from planner.fabrics.lightpath.rule_light import trace
from planner.model.plan import Plan
from tests.planner.checks.good import crossing, pair
from tests.planner.checks.plans import broken, instance_of, job, plan_of, relocated, rewired

THERE = "s0.t1 s2.t0 0,1"


def test_path_of_a_crossing_by_hand() -> None:
    """Slots lie as 0 1 2 over 3 4 5: in s1 light walks from the slot of fiber 0 to that of fiber 1."""
    instance, plan = crossing()
    path = trace(instance.cluster.fabric, plan["ring"].circuits[0].circuits[1])  # type: ignore[arg-type]
    assert path is not None
    assert path.boundaries == ((0, 1, 0), (1, 0, 1), (2, 1, 0))
    assert path.fibers == ((0, 1, 0), (1, 2, 1))


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


@pytest.mark.parametrize("fiber", [("s0", "s1", 0), ("s1", "s2", 1)])
def test_a_failed_fiber_on_the_way(fiber: tuple[str, str, int]) -> None:
    source, destination, index = fiber
    failed = [{"from": source, "to": destination, "index": index}]
    assert broken(*crossing(health={"failed_fibers": failed})) == {"path"}


@pytest.mark.parametrize("key", ["failed_tiles", "failed_ports"])
def test_light_crosses_failed_tiles(key: str) -> None:
    """Waveguides are passive: slot 0 of s1 passes light, whatever has failed there."""
    assert broken(*crossing(health={key: ["s1.t0", "s1.t1"]})) == set()
    lost = [{"tile": "s1.t0", "wavelength": 0}]
    assert broken(*crossing(health={"failed_lasers": lost, "failed_receivers": lost})) == set()


@pytest.mark.parametrize(("budget", "rules"), [("0.69 dB", {"loss"}), ("0.7 dB", set())])
def test_every_fiber_and_crossing_counts(budget: str, rules: set[str]) -> None:
    """Three boundaries of 0.1 dB, one of them in the third server, and two fibers of 0.2 dB."""
    fabric = {"loss_per_tile": "0.1 dB", "loss_per_fiber": "0.2 dB", "loss_budget": budget}
    assert broken(*crossing(fabric)) == rules


def test_wavelengths_of_the_fibers() -> None:
    instance, plan = crossing({"wavelengths_per_fiber": 2})
    assert broken(instance, plan) == set()
    assert broken(instance, rewired(plan, "ring", "s0.t1 s2.t0 2,3 s0>s1#0 s1>s2#1")) == {"path"}


def test_two_jobs_on_the_second_fiber() -> None:
    """A pair on s1 and s2 has the wavelengths of the ring on fiber 1, or others, or another fiber."""
    instance, plan = crossing(more=[job("pair", 2)])
    for there, rules in (("0,1 s1>s2#1", {"sharing"}), ("2,3 s1>s2#1", set()), ("0,1 s1>s2#0", set())):
        both = Plan(instance=plan.instance, assignments=(plan["ring"], pair("pair", "s1.t4", "s2.t4", "0,1")))
        lines = f"s1.t4 s2.t4 {there}", "s2.t4 s1.t4 2,3 s2>s1#1"
        assert broken(instance, rewired(both, "pair", *lines)) == rules


@pytest.mark.parametrize(("waveguides", "rules"), [("shared", {"sharing"}), ("dedicated", set())])
def test_light_that_crosses_meets_light_inside_the_server(waveguides: str, rules: set[str]) -> None:
    """A pair on slots 0 and 1 of s1 sends on the boundary that the ring crosses there, on the same wavelengths."""
    instance, plan = crossing({"waveguides": waveguides}, more=[job("pair", 2)])
    plan = rewired(plan, "ring", "s2.t1 s0.t0 2,3 s2>s1#0 s1>s0#0")
    for wavelengths, found in (("0,1", rules), ("2,3", set())):
        both = Plan(instance=plan.instance, assignments=(plan["ring"], pair("pair", "s1.t0", "s1.t1", wavelengths)))
        assert broken(instance, both) == found


def test_a_crossing_needs_nothing_of_the_tiles_it_crosses() -> None:
    """In s1 both slots on the way belong to a job that uses all their wavelengths and peers."""
    instance, plan = crossing({"max_peers": 1}, more=[job("pair", 2)])
    both = Plan(instance=plan.instance, assignments=(plan["ring"], pair("pair", "s1.t0", "s1.t1", "0,1,2,3")))
    assert broken(instance, both) == set()


def test_a_rank_elsewhere_needs_other_fibers() -> None:
    instance, plan = crossing()
    assert broken(instance, relocated(plan, "ring", s2_t0="s1.t0")) >= {"path"}


def test_crossed_fibers_are_lit_and_only_direct_ones_join_free_tiles() -> None:
    """Seven tiles: s0 has four free, s1 six, s2 four. No fiber joins s0 and s2, and light may turn the others off."""
    sizes = {"size_distribution": {7: 1.0}}
    two = [{"from": a, "to": b, "count": 2} for a, b in (("s0", "s1"), ("s1", "s0"), ("s1", "s2"), ("s2", "s1"))]
    for bundles, expected in ((two, 0.0), ([bundle | {"count": 1} for bundle in two], 1.0)):
        instance, plan = crossing({"fibers": bundles}, **sizes)
        if bundles is not two:
            plan = rewired(plan, "ring", f"{THERE} s0>s1#0 s1>s2#0")
        assert fragmentation(instance, plan) == pytest.approx(expected)
    instance = instance_of(job("a", 6), fabric={"servers": 3, "transit": 1, "fibers": two}, **sizes)
    middle = plan_of(instance).model_copy(update={"objectives": {}})
    assert fragmentation(instance, middle) == pytest.approx(0.0)

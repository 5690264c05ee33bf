"""Circuits that cross a third server: each rule broken alone, on a row of three servers."""

import pytest

from planner.checks.objectives import fragmentation
from planner.model.plan import Plan
from tests.planner.checks.good import crossing, pair
from tests.planner.checks.plans import broken, instance_of, job, plan_of, relocated, rewired
from tests.planner.fabrics.lightpath.rules_cases import THERE


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

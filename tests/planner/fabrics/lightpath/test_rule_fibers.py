"""Circuits use wavelengths that the fibers carry."""

from tests.planner.checks.good import crossing
from tests.planner.checks.plans import broken, rewired


def test_wavelengths_of_the_fibers() -> None:
    instance, plan = crossing({"wavelengths_per_fiber": 2})
    assert broken(instance, plan) == set()
    assert broken(instance, rewired(plan, "ring", "s0.t1 s2.t0 2,3 s0>s1#0 s1>s2#1")) == {"path"}

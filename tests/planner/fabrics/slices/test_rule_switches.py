"""Circuits of a slice through the optical switches."""

import pytest

from planner.checks import check
from planner.model.plan import Plan
from tests.planner.checks.plans import broken, edited, job, rewired
from tests.planner.fabrics.slices.plans import CUBES, loops, plane, sliced


@pytest.mark.parametrize("ends", ["s2.c5 s2.c1", "s2.c3 s2.c1"])
def test_a_slice_needs_its_circuits(ends: str) -> None:
    instance, plan = plane()
    assert broken(instance, rewired(plan, "plane", drop=ends)) == {"switches", "rounds"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "line",
    [
        "s2.c5 s2.c1 0 x3",
        "s2.c5 s2.c1 1 x1",
        "s2.c5 s2.c1 0",
        "s2.c1 s2.c5 0 x1",
        "s2.c4 s2.c0 0 x0",
        "s2.c7 s2.c6 0 z3",
    ],
)
def test_it_needs_no_others(line: str) -> None:
    instance, plan = plane()
    assert "switches" in broken(instance, rewired(plan, "plane", line))


def test_circuits_are_one_configuration_of_the_slice() -> None:
    instance, plan = plane()
    two = (loops().model_copy(update={"circuits": loops().circuits[:2]}),) * 1
    rest = loops().model_copy(update={"circuits": loops().circuits[2:]})
    assert broken(instance, edited(plan, "plane", circuits=(*two, rest))) == {"switches"}
    renamed = loops().model_copy(update={"dimension": "data"})
    assert broken(instance, edited(plan, "plane", circuits=(renamed,))) == {"switches"}


def test_failed_switches_carry_nothing() -> None:
    _, plan = plane()
    for name, expected in (("x1", {"switches"}), ("x0", set()), ("z3", set())):
        instance = sliced(CUBES, job("plane", 4), health={"failed_switches": [name]})
        assert broken(instance, plan) == expected


def test_a_port_is_taken_once() -> None:
    _, plan = plane()
    instance = sliced(CUBES, job("plane", 4), job("other", 4))
    double = Plan(instance="tiny", assignments=(plan["plane"], plan["plane"].model_copy(update={"job": "other"})))
    ports = [v for v in check(instance, double) if v.rule == "switches"]
    assert {v.where for v in ports} == {"switch x1", "switch x3", "switch y1", "switch y3"}

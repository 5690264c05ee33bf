"""Circuits of a slice through the optical switches."""

import pytest

from planner.candidates.expand import expand
from planner.checks import check
from planner.model.plan import Plan
from planner.pipeline import solve
from tests.planner.checks.plans import broken, edited, job, rewired
from tests.planner.fabrics.slices import clusters
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


@pytest.mark.parametrize(("ranks", "extents"), [(16, (4, 2, 2)), (32, (4, 4, 2))])
def test_a_twisted_torus_is_wired_as_it_is_charged(ranks: int, extents: tuple[int, ...]) -> None:
    """Its wraps lead elsewhere than those of a plain one, over the same ports of the same switches."""
    only = {"expert": ranks, "zero": 0}
    twisted, plain = (
        clusters.sliced(fabric, clusters.job("a", ranks, clusters.MIXTURE | only))
        for fabric in (clusters.TWISTING, clusters.CUBES | {"servers": 4})
    )
    plan, other = (solve(each, options=clusters.OPTIONS).plan for each in (twisted, plain))
    assert plan is not None
    assert other is not None
    assert plan["a"].configuration.expert_collective.radices == extents
    assert (plan["a"].configuration.expert_collective.kind, other["a"].configuration.expert_collective.kind) == (
        "twisted",
        "routed",
    )
    assert plan["a"].step_s < other["a"].step_s
    assert broken(twisted, plan) == broken(plain, other) == set()
    ports = [{(c.source, *c.fibers) for h in each["a"].circuits for c in h.circuits} for each in (plan, other)]
    assert ports[0] == ports[1]
    assert broken(twisted, edited(plan, "a", circuits=other["a"].circuits)) == {"switches", "rounds"}
    assert "listed" in broken(plain, plan)


def test_only_slices_of_a_twist_are_offered_one() -> None:
    """And a twisted all-reduce comes with a twisted all-to-all alone; all else is as on plain tori."""
    listed = [
        expand(clusters.sliced(fabric, clusters.job("a", [8, 16, 32], clusters.MIXTURE)), prune=False).options[0]
        for fabric in (clusters.TWISTING, clusters.CUBES | {"servers": 4})
    ]
    twisted, plain = ({o.candidates.configuration(row).model_dump_json() for row in range(len(o))} for o in listed)
    assert plain < twisted
    for row in range(len(listed[0])):
        found = listed[0].candidates.configuration(row)
        if found.model_dump_json() not in plain:
            assert found.expert_collective.kind == "twisted"
            assert found.expert_collective.radices in ((4, 2, 2), (4, 4, 2))
            assert found.data_collective.kind in ("none", "twisted_bucket")

"""Circuits of a slice through the optical switches."""

from random import Random

import pytest

from costmodel.fabrics.line_shifts import load_line_shifts
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


def test_a_shifted_torus_is_wired_as_it_is_charged() -> None:
    """The same ports of the same switches as a plain torus, joined otherwise; ranks that lie elsewhere lack links."""
    only = {"expert": 32, "zero": 0}
    shifted, plain, twisted = (
        clusters.sliced(fabric, clusters.job("a", 32, clusters.MIXTURE | only))
        for fabric in (clusters.SHIFTING, clusters.CUBES | {"servers": 4}, clusters.TWISTING)
    )
    plan, other, third = (solve(each, options=clusters.OPTIONS).plan for each in (shifted, plain, twisted))
    assert plan is not None
    assert other is not None
    assert third is not None
    configuration = plan["a"].configuration
    assert (configuration.expert_collective.kind, configuration.expert_collective.radices) == ("shifted", (4, 4, 2))
    assert configuration.data_collective.kind == "shifted_direct"
    assert plan["a"].step_s < third["a"].step_s < other["a"].step_s
    assert broken(shifted, plan) == broken(plain, other) == set()
    ends = [{(c.source, *c.fibers) for h in each["a"].circuits for c in h.circuits} for each in (plan, other)]
    assert ends[0] == ends[1]
    assert broken(shifted, edited(plan, "a", circuits=other["a"].circuits)) == {"switches", "rounds"}
    assert {"cut", "listed"} <= broken(plain, plan)
    assert {"listed"} <= broken(twisted, plan)


def test_weights_are_part_of_what_is_charged() -> None:
    """With other weights the same lines are busier: model and simulation agree, and a plan of before is too quick."""
    only = {"expert": 32, "zero": 0}
    weights = Random(0).choices((0.7, 0.85, 1.0), k=48)
    uneven = load_line_shifts(clusters.SHIFTING["switches"]["line_shifts"][0]).model_dump()
    uneven["weights"] = [weights[first : first + 6] for first in range(0, 48, 6)]
    switches = clusters.SHIFTING["switches"] | {"line_shifts": [uneven]}
    even, other = (
        clusters.sliced(fabric, clusters.job("a", 32, clusters.MIXTURE | only))
        for fabric in (clusters.SHIFTING, clusters.SHIFTING | {"switches": switches})
    )
    plan, slower = solve(even, options=clusters.OPTIONS).plan, solve(other, options=clusters.OPTIONS).plan
    assert plan is not None
    assert slower is not None
    collective = plan["a"].configuration.expert_collective
    assert slower["a"].configuration.expert_collective == collective
    assert check(other, slower) == []
    assert {violation.rule for violation in check(other, plan)} == {"claims"}


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

"""Circulants around the rings of a node, run round by round by the check."""

from dataclasses import replace
from typing import Any

import pytest

from costmodel.fabrics import MemoryNodeRings
from costmodel.fabrics.group_plans import NO_PLAN, LinkPlan
from costmodel.parallelism.configuration import Collective, Configuration
from planner.checks import check
from planner.fabrics.memory_ring.rule_rounds import check_both_ways
from planner.model.instance import Instance
from planner.model.plan import Assignment, Plan
from planner.model.result import SolveOptions
from planner.pipeline import solve
from tests.memory_rings import FIELDS, NODE
from tests.paths import ROOT

CIRCULANTS = FIELDS | {"collectives": "circulants"}
NODES: list[dict[str, Any]] = [
    {},
    {"arrangement": "star"},
    {"arrangement": "folded_star"},
    {"arrangement": "direct", "node": None},
    {"links": 2, "alpha": "3 us"},
]


def _both(on: MemoryNodeRings, ranks: int) -> tuple[Assignment, LinkPlan]:
    _, both = on.plans("data", ranks, one_server=True)
    assert isinstance(both, LinkPlan)
    configuration = Configuration(data=ranks, block=ranks, data_collective=Collective.of(both))
    return Assignment(job="a", configuration=configuration, devices=tuple(f"s0.d{i}" for i in range(ranks))), both


def _found(on: MemoryNodeRings, assignment: Assignment, data: LinkPlan) -> list[str]:
    return [each.message for each in check_both_ways(on, assignment, (NO_PLAN, NO_PLAN, data, NO_PLAN, NO_PLAN))]


@pytest.mark.parametrize("node", NODES)
@pytest.mark.parametrize("ranks", [3, 4, 5, 6, 8])
def test_charged_times_are_those_of_rounds(node: dict[str, Any], ranks: int) -> None:
    on = MemoryNodeRings.model_validate(CIRCULANTS | {"node": NODE | node})
    assignment, both = _both(on, ranks)
    assert _found(on, assignment, both) == []
    slow, late = replace(both, seconds_per_byte=both.seconds_per_byte * 1.01), replace(both, latency_s=0.99e-6)
    assert [": seconds_per_byte is " in found for found in _found(on, assignment, slow)] == [True]
    assert [": latency_s is " in found for found in _found(on, assignment, late)] == [True]


@pytest.mark.parametrize("strides", [(1, 2), (2, 3), (1,), (4, 1)])
def test_rings_join_neighbours_alone(strides: tuple[int, ...]) -> None:
    on = MemoryNodeRings.model_validate(CIRCULANTS)
    assignment, both = _both(on, 5)
    wrong = Collective.of(both).model_copy(update={"radices": strides})
    other = assignment.configuration.model_copy(update={"data_collective": wrong})
    (found,) = _found(on, assignment.model_copy(update={"configuration": other}), both)
    assert "rings join 5 ranks to those 1 and 4 ahead" in found


def test_plans_that_go_both_ways_are_checked() -> None:
    """Short messages go both ways; what a plan says of their circuits is read, and the price of them run."""
    written = Instance.load(ROOT / "instances/groups/memory_ring.yaml")
    on = written.cluster.fabric.model_copy(update={"collectives": "circulants"})
    instance = written.model_copy(update={"cluster": written.cluster.model_copy(update={"fabric": on})})
    plan = solve(instance, options=SolveOptions(time_limit_s=10.0, workers=1)).plan
    assert plan is not None
    assert check(instance, plan) == []
    job, dimension, collective = next(_circulants(plan))
    wrong = collective.model_copy(update={"radices": (1, 2)})
    configuration = job.configuration.model_copy(update={f"{dimension}_collective": wrong})
    others = tuple(
        each.model_copy(update={"configuration": configuration}) if each.job == job.job else each
        for each in plan.assignments
    )
    assert check(instance, plan.model_copy(update={"assignments": others}))


def _circulants(plan: Plan) -> Any:
    for job in plan.assignments:
        for dimension in ("tensor", "context", "data"):
            collective = getattr(job.configuration, f"{dimension}_collective")
            if collective.kind == "circulant":
                yield job, dimension, collective

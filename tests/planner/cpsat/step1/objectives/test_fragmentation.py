"""Fragmentation as an objective."""

from dataclasses import replace

import pytest

from planner.model.instance import Instance
from planner.model.result import Status
from planner.pipeline import solve
from tests.oracles.brute_force import brute_force
from tests.oracles.tiny_instances import tiny_instance
from tests.planner.cpsat.search_cases import OPTIONS
from tests.planner.small_racks import rack, serving


def test_value_after_fragmentation_in_thirds() -> None:
    """The kept fragmentation must not exclude the plan that has it."""
    data = tiny_instance(267).model_dump()
    data |= {"objectives": ["fragmentation", "value"], "size_distribution": {2: 2.0, 3: 1.0}}
    agrees(Instance.parse(data))


def test_fragmentation_beside_a_device_without_a_port() -> None:
    """On the last lit device of its server the job leaves two free, which no size 3 is measured against."""
    data = rack(serving("x", 1, required=True), tiles=2, health={"failed_ports": ["s1.t1"]})
    agrees(Instance.parse(data | {"objectives": ["fragmentation"], "size_distribution": {2: 2.0, 3: 1.0}}))


def agrees(instance: Instance) -> None:
    expected = brute_force(instance)
    result = solve(instance, options=replace(OPTIONS, deterministic_limit=20.0))
    assert expected is not None
    assert result.status is Status.OPTIMAL
    assert [level.value for level in result.levels] == pytest.approx([*expected.values.values()], abs=1e-6)
    assert result.plan is not None
    assert [*result.plan.objectives.values()] == pytest.approx([*expected.values.values()], abs=1e-6)

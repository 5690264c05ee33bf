"""Jobs over several racks of pooled memory: each way to break their rules is noticed."""

from typing import Any

import pytest

from costmodel.fabrics import Sipam
from planner.checks import check
from planner.fabrics.sipam.rule_network import uplinks_reserved
from planner.fabrics.sipam.rule_parts import PoolParts
from planner.fabrics.sipam.rule_racks import in_racks
from planner.model.edit import as_residents
from planner.model.plan import Assignment, Circuit, MemoryCircuit
from tests.planner.fabrics.sipam.joined_pools import joined_pools, only, plan_of


def _broken(**changes: Any) -> set[str]:
    """Rules that the plan of one job of eight breaks once it is changed."""
    plan = plan_of(8)
    changed = plan.model_copy(update={"assignments": (only(plan).model_copy(update=changes),)})
    return {violation.rule for violation in check(joined_pools(8), changed)}


def _job() -> Assignment:
    return only(plan_of(8))


def test_a_job_over_two_racks_obeys_the_rules_and_may_run_already() -> None:
    instance, plan = joined_pools(8), plan_of(8)
    assert _job().configuration.racks == 2
    assert check(instance, plan, starts=True) == []
    assert as_residents(instance, plan).residents[0].upper == _job().upper


def test_units_and_ports_are_those_of_the_rack_of_a_rank() -> None:
    first, *others = _job().memory
    other = others[-1]
    assert first.port[:2] != other.port[:2]
    moved = first.model_copy(update={"port": other.port, "units": other.units})
    back = other.model_copy(update={"port": first.port, "units": first.units})
    assert "memory_pool" in _broken(memory=(moved, *others[:-1], back))


def test_light_stays_in_a_rack() -> None:
    held, *more = _job().circuits
    circuit = held.circuits[0]
    away = next(name for name in _job().devices if name[:2] != circuit.source[:2])
    wrong: Circuit = circuit.model_copy(update={"destination": away})
    broken = _broken(circuits=(held.model_copy(update={"circuits": (wrong, *held.circuits[1:])}), *more))
    assert {"circuits", "pool_network"} & broken


def test_racks_are_joined_by_circuits_of_their_own() -> None:
    assert _broken() == set()
    assert "rack" in _broken(upper=())
    assert "rack" in _broken(upper=(_job().upper[0], *_job().upper))


def test_parts_come_one_after_the_other() -> None:
    devices = _job().devices
    assert "rack" in _broken(devices=(*devices[4:], *devices[:4]))


@pytest.mark.parametrize("name", ["u0", "r0.s0.m0.u0"])
def test_what_has_failed_is_not_used(name: str) -> None:
    kind = "failed_upper" if name == "u0" else "failed_memory_units"
    plug: MemoryCircuit = _job().memory[0]
    failed = name if name == "u0" else plug.units[0]
    assert check(joined_pools(8, **{kind: [failed]}), plan_of(8)) != []


def test_uplinks_are_reserved_where_a_part_lies_in_several_servers() -> None:
    """Of a part in one server none, whatever lies in other racks."""
    instance = joined_pools(8)
    fabric = instance.cluster.fabric
    assert isinstance(fabric, Sipam)
    parts = PoolParts(instance.cluster, fabric)
    job, assignment = instance.job("j0"), _job()
    reserved = uplinks_reserved(parts, job, assignment)
    inside = in_racks(parts, [assignment])
    assert [len(phases[0].devices) for phases in inside] == [4, 4]
    assert {server for server, _ in reserved} == {fabric.parse_device(name)[0] for name in assignment.devices}
    alone = assignment.model_copy(update={"devices": (assignment.devices[0], assignment.devices[4])})
    assert uplinks_reserved(parts, job, alone) == {}

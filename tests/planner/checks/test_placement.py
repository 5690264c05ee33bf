"""Devices exist, are healthy and distinct, one for each rank."""

from typing import Any

import pytest

from planner.checks import check
from tests.planner.checks.good import replicas, ring, shared, single
from tests.planner.checks.plans import broken, edited, relocated


@pytest.mark.parametrize("name", ["s0.t6", "s2.t0", "s0.g1", "t1", "", "s0.t01"])
def test_unknown_device(name: str) -> None:
    instance, plan = ring()
    assert broken(instance, relocated(plan, "ring", s0_t1=name)) == {"placement"}


@pytest.mark.parametrize("devices", ["r0.s0.t0 r0.s0.t0", "r0.s0.t0", "r0.s0.t0 r0.s0.t1 r0.s0.t2", ""])
def test_one_device_for_each_rank(devices: str) -> None:
    instance, plan = replicas()
    assert broken(instance, edited(plan, "replicas", devices=tuple(devices.split()))) == {"placement"}


def test_device_of_two_jobs() -> None:
    instance, plan = shared("dedicated")
    assert broken(instance, relocated(plan, "two", s0_t1="s0.t0")) == {"placement"}


@pytest.mark.parametrize("health", [{"failed_tiles": ["s1.t0"]}, {"failed_ports": ["s1.t0"]}])
def test_failed_device_or_port(health: dict[str, Any]) -> None:
    instance, plan = ring(health=health)
    assert broken(instance, plan) == {"placement"}


def test_two_ranks_need_both_ports() -> None:
    instance, plan = replicas()
    health = instance.cluster.health.model_copy(update={"failed_ports": ("r0.s0.t0",)})
    cluster = instance.cluster.model_copy(update={"health": health})
    assert broken(instance.model_copy(update={"cluster": cluster}), plan) == {"placement"}


def test_failed_port_is_enough_for_one_device_only() -> None:
    instance, plan = single()
    assert broken(instance, plan) == set()
    failed = instance.cluster.health.model_copy(update={"failed_tiles": ("s0.t0",), "failed_ports": ()})
    cluster = instance.cluster.model_copy(update={"health": failed})
    assert broken(instance.model_copy(update={"cluster": cluster}), plan) == {"placement"}


def test_a_single_device_job_spares_ports_where_it_starts() -> None:
    """Once it runs it stays where it is, whichever free port fails."""
    instance, plan = single()
    health = instance.cluster.health.model_copy(update={"failed_tiles": (), "failed_ports": ("s0.t5",)})
    cluster = instance.cluster.model_copy(update={"health": health})
    instance = instance.model_copy(update={"cluster": cluster})
    assert check(instance, plan) == []
    assert {v.rule for v in check(instance, plan, starts=True)} == {"placement"}
    moved = relocated(plan, "single", s0_t0="s0.t5")
    assert check(instance, moved, starts=True) == []

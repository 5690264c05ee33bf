"""Exactly the required circuits. Where one lacks or is too narrow, a round lacks it or takes longer too."""

import pytest

from planner.model.plan import HeldCircuits
from tests.planner.checks.good import Case, at_once, exchange, fat_tree, grid, line, pools, ring, switched
from tests.planner.checks.plans import broken, edited, held, rewired


@pytest.mark.parametrize(
    "circuit",
    [
        "s0.t0 s1.t0 2,3 s0>s1#1",
        "s0.t0 s0.t2 2,3",
        "s0.t4 s0.t5 0,1",
        "s0.t0 s0.t1 0,1,2",
        "s0.t0 s0.t0 2",
        "s0.t0 s7.t7 2",
    ],
)
def test_superfluous(circuit: str) -> None:
    """Another circuit, one of a device outside the job, or one that is wider than it need be."""
    instance, plan = ring()
    assert broken(instance, rewired(plan, "ring", circuit)) == {"circuits"}


def test_circuit_twice() -> None:
    instance, plan = ring()
    circuits = plan["ring"].circuits[0].circuits
    twice = HeldCircuits(dimension="data", circuits=(*circuits, *held("data", "s0.t0 s0.t1 2,3").circuits))
    assert broken(instance, edited(plan, "ring", circuits=(twice,))) == {"circuits"}


@pytest.mark.parametrize(
    ("case", "name", "ends", "at"),
    [
        (ring(), "ring", "s0.t1 s1.t0", 0),
        (switched(), "switched", "s0.t0 s0.t1", 0),
        (switched(), "switched", "s1.t1 s0.t1", 1),
        (at_once(), "at_once", "s1.t1 s0.t1", 0),
        (exchange(), "exchange", "s0.t2 s0.t0", 0),
        (line(), "line", "s0.t1 s0.t0", 0),
        (grid(), "grid", "s0.t1 s0.t0", 0),
        (grid(), "grid", "s1.t0 s0.t0", 1),
        (pools(), "pools", "s0.t0 s1.t0", 0),
    ],
)
def test_missing(case: Case, name: str, ends: str, at: int) -> None:
    instance, plan = case
    assert broken(instance, rewired(plan, name, at=at, drop=ends)) == {"circuits", "rounds"}


@pytest.mark.parametrize(("wavelengths", "also"), [("0", set()), ("0,0", {"path"})])
def test_too_narrow(wavelengths: str, also: set[str]) -> None:
    instance, plan = ring()
    assert broken(instance, rewired(plan, "ring", f"s0.t0 s0.t1 {wavelengths}")) == {"circuits", "rounds"} | also


def test_ranks_exchanged_but_not_their_circuits() -> None:
    instance, plan = ring()
    devices = ("s0.t1", "s0.t0", "s1.t0", "s1.t1")
    assert broken(instance, edited(plan, "ring", devices=devices)) == {"circuits", "rounds"}


def test_order_of_configurations() -> None:
    """Of one dimension: its rounds run under the wrong circuits. Of two: only the order is wrong."""
    instance, plan = switched()
    turned = plan["switched"].circuits[::-1]
    assert broken(instance, edited(plan, "switched", circuits=turned)) == {"circuits", "rounds"}
    instance, plan = grid()
    assert broken(instance, edited(plan, "grid", circuits=plan["grid"].circuits[::-1])) == {"circuits"}


def test_caches_need_a_way_back_and_meet_those_that_take_them_alone() -> None:
    instance, plan = pools()
    assert broken(instance, rewired(plan, "pools", drop="s1.t0 s0.t0")) == {"circuits"}
    devices = ("s0.t1", "s0.t0", "s1.t0")
    assert broken(instance, edited(plan, "pools", devices=devices)) == {"circuits", "rounds"}


def test_superfluous_configuration() -> None:
    instance, plan = ring()
    empty = HeldCircuits(dimension="data", circuits=())
    assert broken(instance, edited(plan, "ring", circuits=(*plan["ring"].circuits, empty))) == {"circuits"}
    other = HeldCircuits(dimension="tensor", circuits=())
    assert broken(instance, edited(plan, "ring", circuits=(other, *plan["ring"].circuits))) == {"circuits"}


def test_packets_need_no_circuits() -> None:
    instance, plan = fat_tree()
    circuits = (held("data", "r0.s0.g0 r0.s0.g1 0"),)
    assert broken(instance, edited(plan, "packets", circuits=circuits)) == {"circuits"}


def test_more_ranks_than_any_array_holds() -> None:
    instance, plan = ring()
    configuration = plan["ring"].configuration.model_copy(update={"data": 10**30})
    assert {"listed", "placement"} <= broken(instance, edited(plan, "ring", configuration=configuration))

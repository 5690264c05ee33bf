"""Residents that stay, must stay or cannot stay."""

from typing import Any

import pytest

from planner.checks import check
from planner.model.errors import InputError
from planner.model.plan import HeldCircuits
from tests.planner.checks.good import pair, resident_of, ring_assignment, staying
from tests.planner.checks.plans import broken, edited, instance_of, plan_of, rewired

NARROW = pair("old", "s0.t0", "s0.t1", "0,1")
ELSEWHERE = {
    "devices": pair("old", "s1.t0", "s1.t1", "0,1"),
    "ranks": pair("old", "s0.t1", "s0.t0", "0,1"),
    "configuration": pair("old", "s0.t0", "s0.t1", "0"),
    "wavelengths": pair("old", "s0.t0", "s0.t1", "2,3"),
}


@pytest.mark.slow
@pytest.mark.parametrize("change", ELSEWHERE)
def test_only_movable_residents_move(change: str) -> None:
    for movable, rules in ((True, set()), (False, {"residents"})):
        instance = instance_of(residents=(resident_of(NARROW, movable=movable),))
        plan = plan_of(instance, ELSEWHERE[change])
        assert broken(instance, plan) == rules
        assert plan["old"].is_moved
        assert plan.objectives["moves"] == 1.0


def test_order_of_circuits_is_no_move() -> None:
    instance, plan = staying(movable=False)
    circuits = plan["ring"].circuits[0].circuits
    turned = HeldCircuits(dimension="data", circuits=tuple(reversed(circuits)))
    assert check(instance, edited(plan, "ring", circuits=(turned,))) == []


@pytest.mark.parametrize(
    ("health", "also"),
    [
        ({"failed_tiles": ["s1.t0"]}, "placement"),
        ({"failed_ports": ["s1.t0"]}, "placement"),
        ({"failed_fibers": [{"from": "s1", "to": "s0", "index": 1}]}, "path"),
    ],
)
def test_nobody_stays_on_a_failed_part(health: dict[str, Any], also: str) -> None:
    """Nobody at all may use the part, so a second rule is broken as well."""
    assert broken(*staying(health=health)) == {"residents", also}


def test_leaving_a_failed_fiber() -> None:
    instance, plan = staying(health={"failed_fibers": [{"from": "s1", "to": "s0", "index": 1}]})
    assert broken(instance, rewired(plan, "ring", "s1.t1 s0.t0 0,1 s1>s0#0")) == set()


def test_failures_elsewhere_do_not_matter() -> None:
    elsewhere = {"failed_tiles": ["s1.t5"], "failed_ports": ["s1.t4"]}
    fibers = [{"from": "s0", "to": "s1", "index": 1}]
    instance, plan = staying(health={**elsewhere, "failed_fibers": fibers}, movable=False)
    assert broken(instance, plan) == set()
    assert not plan["ring"].is_moved


def test_current_circuits_are_judged_like_others() -> None:
    """A resident cannot be running without the circuits it needs."""
    with pytest.raises(InputError, match="not the circuits of its configuration"):
        instance_of(residents=(resident_of(ring_assignment(), circuits=()),))

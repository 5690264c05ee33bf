"""What breaks the rules of joined racks."""

from typing import Any

import pytest

from planner.checks import check
from planner.model.plan import Assignment, Plan, RackCircuit
from tests.planner.fabrics.joined_racks.racks import FIBERS, PACKETS, SWITCHES, best, racks


def _told(layer: dict[str, Any], health: dict[str, Any] | None = None, **changes: Any) -> list[str]:
    """Violations of racks where the one job of a right plan is changed."""
    instance = racks(layer, 8)
    plan = best(instance)
    changed = plan.assignments[0].model_copy(update=changes)
    worse = racks(layer, 8, health=health) if health else instance
    broken = check(worse, plan.model_copy(update={"assignments": (changed,)}))
    return [violation.message for violation in broken if violation.rule == "rack"]


def _job(upper: dict[str, Any]) -> Assignment:
    return best(racks(upper, 8)).assignments[0]


def _first(upper: dict[str, Any], **changes: Any) -> tuple[RackCircuit, ...]:
    """Its circuits between racks, the first one changed."""
    first, *others = _job(upper).upper
    return (first.model_copy(update=changes), *others)


def test_parts_lie_in_racks_of_their_own_in_order() -> None:
    devices = _job(PACKETS).devices
    told = "j0: its ranks do not lie in 2 racks, as many in each and one rack after the other"
    assert told in _told(PACKETS, devices=(*devices[4:], *devices[:4]))
    assert told in _told(PACKETS, devices=(devices[4], *devices[1:4], devices[0], *devices[5:]))


def test_circuits_are_those_between_its_racks() -> None:
    assert _told(SWITCHES) == []
    assert _told(SWITCHES, upper=()) == ["j0: has 0 links from r0 to r1, not 2", "j0: has 0 links from r1 to r0, not 2"]
    assert "j0: has 1 links from r2 to r1, not 0" in _told(SWITCHES, upper=_first(SWITCHES, source="r2.p0"))
    assert "j0: has 1 links from r0 to r1, not 2" in _told(FIBERS, upper=_first(FIBERS, wavelengths=(1,)))


@pytest.mark.parametrize(
    "changes", [{"over": "u1"}, {"source": "r0.p9"}, {"source": "r0"}, {"wavelengths": (0,)}, {"over": "u7"}]
)
def test_circuits_over_switches_take_ports_that_are_there(changes: dict[str, Any]) -> None:
    told = _told(SWITCHES, upper=_first(SWITCHES, **changes))
    assert any(message.startswith("j0: no circuit leads from r0") for message in told)


@pytest.mark.parametrize(
    "changes",
    [{"over": "r0>r1#7"}, {"over": "r1>r0#0"}, {"over": "u0"}, {"wavelengths": (0, 2)}, {"wavelengths": (0, 1, 1)}],
)
def test_circuits_over_fibers_take_wavelengths_that_are_there(changes: dict[str, Any]) -> None:
    told = _told(FIBERS, upper=_first(FIBERS, **changes))
    assert any(message.startswith("j0: no circuit leads from r0 to r1") for message in told)


def test_no_two_circuits_share_a_port_or_a_wavelength() -> None:
    assert "r0.p1 out belongs to j0 and to j0" in _told(SWITCHES, upper=_first(SWITCHES, source="r0.p1"))
    instance = racks(FIBERS, 2, 2)
    plan = best(instance)
    two = [each.model_copy(update={"job": f"j{j}"}) for j, each in enumerate((_job(FIBERS), _job(FIBERS)))]
    told = [v.message for v in check(instance, plan.model_copy(update={"assignments": tuple(two)}))]
    assert "r0>r1#0 wavelength 0 belongs to j0 and to j1" in told


def test_failed_parts_carry_no_light() -> None:
    assert _told(SWITCHES, {"failed_upper": ["u0"]}) != []
    assert _told(FIBERS, {"failed_upper": ["r0>r1#0"]}) == ["j0: no circuit leads from r0 to r1 over r0>r1#0"]


def test_uplinks_are_counted() -> None:
    few = racks(PACKETS | {"oversubscription": 4}, 8)
    assert [v.message for v in check(few, best(racks(PACKETS, 8))) if v.rule == "rack"] == [
        "jobs hold 2 uplinks of rack 0, which has 1", "jobs hold 2 uplinks of rack 1, which has 1"
    ]  # fmt: skip


def test_racks_that_nothing_joins_have_no_circuits_between_them() -> None:
    alone = racks(None, 4)
    light = _job(SWITCHES).upper
    assignment = best(alone).assignments[0].model_copy(update={"upper": light})
    told = check(alone, Plan(instance="racks", assignments=(assignment,)))
    assert {v.rule for v in told} == {"rack"}

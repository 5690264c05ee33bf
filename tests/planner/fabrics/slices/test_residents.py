"""Jobs that run already on slices: they stay, leave what failed, and are refused on no slices."""

from typing import Any

import pytest

from planner.checks import check
from planner.model.edit import as_residents
from planner.model.errors import InputError
from planner.pipeline import solve
from tests.planner.fabrics.slices.clusters import CUBES, OPTIONS, SERVING, SIPAC, TORUS, Fields, job, sliced


@pytest.mark.slow
@pytest.mark.parametrize("fabric", [TORUS, CUBES, SIPAC], ids=["torus", "cubes", "sipac"])
def test_residents_stay_where_they_are(fabric: Fields) -> None:
    instance = sliced(fabric, job("a", 8), job("b", 2, SERVING))
    plan = solve(instance, options=OPTIONS).plan
    assert plan is not None
    again = as_residents(instance, plan)
    result = solve(again, options=OPTIONS)
    assert result.plan is not None
    assert result.plan.objectives["moves"] == 0
    assert [a.devices for a in result.plan.assignments] == [a.devices for a in plan.assignments]
    assert check(again, result.plan) == []


def running(fabric: Fields, **changes: Any) -> Fields:
    """A resident of eight chips as a plan has it, with changes."""
    plan = solve(sliced(fabric, job("a", 8)), options=OPTIONS).plan
    assert plan is not None
    written = plan["a"].model_dump(mode="json", include={"devices", "configuration", "circuits"}, by_alias=True)
    return job("a", 8, **(written | changes))


def test_residents_on_no_slices_are_refused() -> None:
    devices = running(CUBES)["devices"]
    shuffled = [devices[1], devices[0], *devices[2:]]
    with pytest.raises(InputError, match=r"devices: these are no slices of 2 x 2 x 2 by rank"):
        sliced(CUBES, residents=[running(CUBES, devices=shuffled)])
    with pytest.raises(InputError, match="these are not the circuits of its slices"):
        sliced(CUBES, residents=[running(CUBES, circuits=[])])
    wired = [{"dimension": "slice", "circuits": [{"from": "s0.a0", "to": "s0.a1", "wavelengths": [0]}]}]
    with pytest.raises(InputError, match="a sipac has no circuits"):
        sliced(SIPAC, residents=[running(SIPAC, circuits=wired)])


def test_residents_leave_a_failed_switch() -> None:
    fabric = CUBES | {"sides": [2, 3, 2]}
    resident = running(fabric | {"servers": 1})
    used = {name for held in resident["circuits"] for circuit in held["circuits"] for name in circuit["fibers"]}
    assert used
    instance = sliced(fabric, residents=[resident], health={"failed_switches": [min(used)]})
    result = solve(instance, options=OPTIONS)
    assert result.plan is not None
    assert result.plan["a"].is_moved
    assert check(instance, result.plan, starts=True) == []
    with pytest.raises(InputError, match="on failed part"):
        sliced(fabric, residents=[resident | {"movable": False}], health={"failed_switches": [min(used)]})

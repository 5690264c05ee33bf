"""Jobs that run already on rails: they stay, move, or are refused."""

from typing import Any

import pytest

from planner.checks import check
from planner.model.errors import InputError
from planner.model.result import SolveOptions, Status
from planner.pipeline import solve
from tests.planner.checks.plans import job
from tests.planner.fabrics.ocs_rail.rule_rails_cases import in_turns, rails, ring


def resident(**changes: Any) -> dict[str, Any]:
    _, plan = ring()
    return {**job("ring", 3), **plan["ring"].model_dump(include={"devices", "configuration", "circuits"}), **changes}


def test_a_resident_stays() -> None:
    instance = rails(job("new", 2), residents=[resident(movable=False)])
    result = solve(instance, options=SolveOptions(time_limit_s=600.0, workers=1, deterministic_limit=10.0))
    assert result.status is Status.OPTIMAL
    assert result.plan is not None
    assert check(instance, result.plan, starts=True) == []
    assert not result.plan["ring"].is_moved


@pytest.mark.parametrize("failed", [{"failed_switches": ["q1#1"]}, {"failed_tiles": ["s3.g1"]}])
def test_a_displaced_resident_moves(failed: dict[str, Any]) -> None:
    instance = rails(residents=[resident()], health=failed)
    result = solve(instance, options=SolveOptions(time_limit_s=600.0, workers=1, deterministic_limit=10.0))
    assert result.plan is not None
    assert check(instance, result.plan, starts=True) == []
    assert result.plan["ring"].is_moved


def test_residents_that_cannot_be_running_are_refused() -> None:
    def refused(message: str, **changes: Any) -> None:
        with pytest.raises(InputError, match=message):
            rails(residents=[resident(**changes)])

    circuits = resident()["circuits"]
    first, second, third = circuits[0]["circuits"]
    wrong = [{"dimension": "data", "circuits": [first, second, third | {"wavelengths": (0, 3)}]}]
    refused("switches of a rail are 0 to 2", circuits=wrong)
    refused("these are not the circuits", circuits=[])
    elsewhere = ["s0.g1", "s1.g1", "s3.g0"]
    refused("does not join two servers in one slot", devices=elsewhere, circuits=_moved(circuits, "s3.g0"))
    with pytest.raises(InputError, match=r"on failed part q1#0 and may not move"):
        rails(residents=[resident(movable=False)], health={"failed_switches": ["q1#0"]})
    with pytest.raises(InputError, match="switches are q0#0 to q2#2"):
        rails(job("new", 2), health={"failed_switches": ["q3#0"]})


def _moved(circuits: Any, name: str) -> Any:
    moved = [{k: name if end == "s3.g1" else end for k, end in each.items()} for each in circuits[0]["circuits"]]
    return [{"dimension": "data", "circuits": moved}]


def test_a_resident_whose_circuits_take_turns_stays() -> None:
    _, plan = in_turns()
    running = {**job("turns", 4), **plan["turns"].model_dump(include={"devices", "configuration", "circuits"})}
    instance = rails(job("new", 2), residents=[running | {"movable": False}], switching="phases")
    result = solve(instance, options=SolveOptions(time_limit_s=600.0, workers=1, deterministic_limit=10.0))
    assert result.status is Status.OPTIMAL
    assert result.plan is not None
    assert check(instance, result.plan, starts=True) == []
    assert not result.plan["turns"].is_moved
    one_turn = [held | {"phase": "data"} for held in running["circuits"]]
    with pytest.raises(InputError, match=r"2 go from s0\.g1 through switch 0 of its rail"):
        rails(residents=[running | {"circuits": one_turn}], switching="phases")
    with pytest.raises(InputError, match=r"circuits take no turns pipeline \| data on this fabric; leave them out"):
        rails(residents=[running])

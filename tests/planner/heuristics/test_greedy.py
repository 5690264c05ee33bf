"""Greedy packing against the clock."""

from planner.candidates.expand import expand
from planner.heuristics.greedy import place_all
from planner.heuristics.strategies import tightest
from planner.model.clock import Clock
from planner.model.instance import Instance
from tests.planner.fabrics.joined_racks.racks import SWITCHES, racks


def placed(instance: Instance, limit_s: float) -> set[str]:
    """Jobs that find a place, tried in the order of the instance."""
    found = place_all(expand(instance), tightest, clock=Clock.of(limit_s))
    assert found is not None
    return {assignment.job for assignment in found}


def test_when_time_is_short_jobs_that_are_worth_most_for_an_accelerator_come_first() -> None:
    instance = racks(SWITCHES, 12, 2)
    assert placed(instance, 600.0) == {"j0"}
    assert placed(instance, 0.0) == {"j1"}


def test_jobs_that_must_run_come_before_all_others_however_short_time_is() -> None:
    data = racks(SWITCHES, 12, 2).model_dump(mode="json", by_alias=True)
    data["jobs"][0]["required"] = True
    assert placed(Instance.parse(data), 0.0) == {"j0"}

"""Rails in step 1: switches that work, and no more; chosen where jobs and devices are few, else only counted."""

import pytest

from planner.checks import check
from planner.fabrics.ocs_rail import constraints as ocs_rail
from planner.model.result import SolveOptions
from planner.pipeline import solve
from tests.fabrics import FABRICS
from tests.planner.checks.plans import TRAINING
from tests.planner.fabrics.conformance.corners import odd_circle_on_rails, two_wide_jobs
from tests.planner.fabrics.ocs_rail.step2_cases import instance_of
from tests.planner.fabrics.shared_capacities_cases import is_short_for_both, two_jobs


@pytest.mark.parametrize(("failed", "is_short"), [(["q0#0"], True), ([], False)])
def test_rails_whose_switches_work(monkeypatch: pytest.MonkeyPatch, failed: list[str], is_short: bool) -> None:
    """Counted by server also where rails are left to step 2."""
    fabric = FABRICS["ocs_rail"] | {"servers": 2, "gpus_per_server": 4, "switches": 1, "ports": 2}
    monkeypatch.setattr(ocs_rail, "MOST_PLACES", 0)
    assert is_short_for_both(two_jobs(fabric, lambda demand: demand.num_ports == 1, failed_switches=failed)) == is_short


def test_fewer_working_switches_than_ports_exclude_a_rail() -> None:
    """With one switch down on each rail but one, a job of three ports takes that rail, and only one such job fits."""
    job = {"workload": TRAINING, "accelerators": 4, "constraints": {"collective": "ring"}}
    health = {"failed_switches": ["q0#0", "q1#2"]}
    instance = instance_of([{**job, "name": name} for name in "ab"], health=health)
    result = solve(instance, options=SolveOptions(time_limit_s=600.0, workers=1, deterministic_limit=30.0))
    assert result.plan is not None
    assert check(instance, result.plan, starts=True) == []
    held = [held for assignment in result.plan.assignments for held in assignment.circuits]
    widths = sorted(len(each.circuits[0].wavelengths) for each in held)
    assert widths == [2, 3]


@pytest.mark.parametrize("most_places", [0, 17, 18, 5000])
def test_rails_are_chosen_up_to_a_number_of_places(most_places: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three jobs on six devices are 18 places."""
    monkeypatch.setattr(ocs_rail, "MOST_PLACES", most_places)
    assert odd_circle_on_rails().is_allowed == (most_places < 18)


@pytest.mark.parametrize("most_places", [0, 5000])
def test_devices_of_rails_with_enough_switches_are_counted(most_places: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ocs_rail, "MOST_PLACES", most_places)
    assert not two_wide_jobs().is_allowed
    assert [two_wide_jobs().without(j).is_allowed for j in range(2)] == [True, True]

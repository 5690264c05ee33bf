"""Greedy packing against the clock."""

import time
from collections.abc import Iterator

import pytest

from planner.candidates.expand import expand
from planner.fabrics.problem import JobOptions
from planner.heuristics import greedy
from planner.heuristics.greedy import place_all
from planner.heuristics.strategies import tightest
from planner.model.clock import Clock
from planner.model.instance import Instance
from tests.planner.fabrics.joined_racks.racks import SWITCHES, racks
from tests.planner.small_racks import rack, serving


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


@pytest.mark.parametrize(("limit_s", "most"), [(0.0, greedy.FEW_ROWS), (600.0, 5 * greedy.FEW_ROWS)])
def test_when_time_is_over_only_the_first_rows_of_a_job_are_tried(
    limit_s: float, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It goes by while the rows of the second job are tried, none of which fits beside the first one."""
    monkeypatch.setattr(greedy, "LEAST_S", 0.05)
    problem = expand(Instance.parse(rack(serving("a", 3), serving("b", 3), servers=1)))
    tried = {"a": 0, "b": 0}

    def rows(options: JobOptions) -> Iterator[int]:
        for number in range(5 * greedy.FEW_ROWS):
            tried[options.job.name] = number + 1
            time.sleep(0.06 if options.job.name == "b" and number == 0 else 0.0)
            yield number % len(options)

    found = place_all(problem, tightest, row_order=rows, clock=Clock.of(limit_s))
    assert found is not None
    assert [assignment.job for assignment in found] == ["a"]
    assert most <= tried["b"] <= most + 1

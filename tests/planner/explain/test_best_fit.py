"""Best fit beside a solve, where it costs next to nothing."""

import dataclasses

import pytest

from planner.candidates.expand import expand
from planner.explain import best_fit
from planner.explain.best_fit import by_best_fit
from planner.model.result import Result, Status
from planner.pipeline import solve
from tests.planner.report import rack


def test_best_fit_is_asked_where_it_is_quick() -> None:
    problem = expand(rack.fat_tree())
    result = solve(problem, policy="first_fit")
    found = by_best_fit(problem, dataclasses.replace(result, wall_time_s=100.0))
    assert found is not None
    assert found.admitted == ("solo",)
    assert by_best_fit(problem, dataclasses.replace(result, policy="best_fit")) is None
    assert by_best_fit(problem, Result(Status.NO_PLAN, "cpsat")) is None
    placed = dataclasses.replace(problem, instance=problem.instance.model_copy(update={"placed_steps": True}))
    assert by_best_fit(placed, dataclasses.replace(result, wall_time_s=100.0)) is None


def test_best_fit_is_left_out_where_it_is_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = expand(rack.fat_tree())
    result = dataclasses.replace(solve(problem, policy="first_fit"), wall_time_s=0.0)
    monkeypatch.setattr(best_fit, "LEAST_S", 0.0)
    assert by_best_fit(problem, result) is None

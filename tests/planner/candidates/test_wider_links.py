"""The shipped pod of boards beside the same pod with fixed links: what that is worth, told everywhere alike."""

import pytest

from planner import Instance, check, solve
from planner.candidates.wider_links import wider_links_in_words
from planner.explain import explain
from planner.model.result import Result, Status
from planner.report.jobs import job_rows
from tests.paths import ROOT


def solved(name: str) -> tuple[Instance, Result]:
    instance = Instance.load(ROOT / "instances" / "torus" / f"{name}.yaml")
    result = solve(instance, time_limit_s=60, seed=1)
    assert result.plan is not None
    assert result.levels[0].status is Status.OPTIMAL
    assert check(instance, result.plan, starts=True) == []
    return instance, result


def test_slices_on_boards_run_faster_than_over_fixed_links() -> None:
    (instance, result), (plain, over_wires) = solved("boards64"), solved("boards64_plain")
    plan, fixed = result.plan, over_wires.plan
    assert plan is not None
    assert fixed is not None
    assert plan.admitted == fixed.admitted
    for each in plan.assignments:
        assert each.step_s <= fixed[each.job].step_s
    assert fixed["serve-mixture"].step_s / plan["serve-mixture"].step_s == pytest.approx(1.31, abs=0.01)
    words = {
        each.job: wider_links_in_words(instance.cluster, instance.job(each.job), each) for each in plan.assignments
    }
    gained = "3 wavelengths along x, 3 wavelengths along y; 1.31 times as fast as over fixed links"
    assert words["serve-mixture"] == gained
    assert not any(wider_links_in_words(plain.cluster, plain.job(each.job), each) for each in fixed.assignments)
    rows = {row["name"]: row["plan"] for row in job_rows(instance, result, {}) if row["plan"]}
    assert {name: row.get("links", "") for name, row in rows.items()} == words
    told = explain(instance, "serve-mixture", plan=plan, time_limit_s=5)
    assert any(statement.text == f"boards give its links {gained}" for statement in told.statements)

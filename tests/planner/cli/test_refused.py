"""A plan that the check refuses is not told as one."""

import json
from pathlib import Path

from planner.model.instance import Instance
from planner.model.plan import Plan
from planner.model.violation import Violation
from tests.planner.cli.commands.solve_cases import solve
from tests.planner.cli.conftest import Planner


def test_nothing_is_claimed_of_a_plan_that_the_check_refuses(
    planner: Planner, instance: Path, tmp_path: Path, refusing: Violation
) -> None:
    """Exit code 5, one file to report, and neither a table nor the files that were asked for."""
    plan, page = tmp_path / "plan.json", tmp_path / "page.html"
    outcome = solve(planner, instance, "--plan-out", plan, "--report", page)
    assert outcome.code == 5
    assert "optimal" not in outcome.out
    assert "mapping" not in outcome.out
    assert not plan.exists()
    assert not page.exists()
    first, violation, last = outcome.err.splitlines()
    assert first.startswith("internal error: the check refuses the plan")
    assert violation == "violation: placement: big has no devices (by 2)"
    assert "refused-tiny-1.json" in last
    report = json.loads((tmp_path / "refused-tiny-1.json").read_text("utf-8"))
    assert report["violations"] == [vars(refusing)]
    assert report["claimed"]["status"] == "OPTIMAL"
    loaded = Instance.parse(report["instance"])
    assert {each.job for each in Plan.model_validate(report["plan"]).assignments} <= {j.name for j in loaded.jobs}

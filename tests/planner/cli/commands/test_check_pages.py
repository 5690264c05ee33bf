"""`planner check-pages`: a placement is accepted, or told rule by rule."""

from pathlib import Path

import pytest

from tests.planner.cli.conftest import Planner, written


@pytest.mark.parametrize("is_json", [False, True])
def test_a_placement_that_was_written_is_checked(planner: Planner, case: Path, tmp_path: Path, is_json: bool) -> None:
    plan = tmp_path / "plan.json"
    arguments = ("--policy", "bw_aware", "--no-gains")
    if is_json:
        plan.write_text(planner("pages", case, *arguments, "--json").out)
    else:
        assert planner("pages", case, *arguments, "--plan-out", plan).code == 0
    outcome = planner("check", case, plan)
    assert outcome.code == 0
    assert "0 violations: the placement holds" in outcome.out
    assert planner("check", case, plan, "--json").document["ok"]


def test_a_broken_placement_is_told_rule_by_rule(planner: Planner, case: Path, tmp_path: Path) -> None:
    data = planner("pages", case, "--policy", "bw_aware", "--no-gains", "--json").document["plan"]
    tensors = data["jobs"][0]["tensors"]
    tensors[0] |= {"kept": 40, "pages": {}}
    tensors[1]["pages"]["moon"] = 1
    tensors[2] |= {"remade": True, "pages": {}}
    tensors[3] |= {"remade": True, "pages": {}}
    plan = written(tmp_path, data, "broken.json")
    outcome = planner("check", case, plan)
    assert outcome.code == 1
    lines = outcome.out.splitlines()
    verdicts = {line.rsplit("  ", 1)[0].strip(): line for line in lines[1:6]}
    assert "violation" in verdicts["pages"]
    assert any("which is so too" in line for line in lines)
    assert any("to which no way works" in line for line in lines)
    assert any("where 5 may stay" in line for line in lines)
    assert any(line.startswith("time") and line.rstrip().endswith("not judged") for line in lines)
    rules = planner("check", case, plan, "--json").document["rules"]
    assert rules["made again"] == 1
    assert rules["capacity"] == 1
    data["jobs"][0]["job"] = "b"
    outcome = planner("check", case, written(tmp_path, data, "other.json"))
    assert outcome.code == 2
    assert "jobs[b]: 'tiny' has no such job" in outcome.err

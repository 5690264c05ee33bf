"""`planner check`: a good plan passes, and a broken rule is named."""

import json
from pathlib import Path

from tests.planner.cli.conftest import Planner


def test_check_accepts_a_good_plan(planner: Planner, instance: Path, plan: Path) -> None:
    outcome = planner("check", instance, plan)
    assert outcome.code == 0
    assert "0 violations: the plan holds" in outcome.out
    assert any(line.split() == ["placement", "ok"] for line in outcome.out.splitlines())
    value = next(line for line in outcome.out.splitlines() if line.startswith("value "))
    assert value.split() == ["value", "4", "4"]


def test_only_rules_that_speak_of_the_instance_are_shown(planner: Planner, instance: Path, plan: Path) -> None:
    lines = planner("check", instance, plan).out.partition("\n\n")[0].splitlines()[1:]
    shown = {line.split()[0] for line in lines}
    assert {"admission", "listed", "placement", "claims", "path", "loss", "lasers"} <= shown
    assert not shown & {"rails", "cut", "boards", "pool_network", "memory_nodes", "memory_pool", "rack", "per_server"}
    assert planner("check", instance, plan, "--json").document["rules"].keys() > shown


def test_check_names_the_broken_rule(planner: Planner, instance: Path, plan: Path) -> None:
    content = json.loads(plan.read_text("utf-8"))
    content["assignments"][1]["devices"] = content["assignments"][0]["devices"]
    plan.write_text(json.dumps(content), encoding="utf-8")
    outcome = planner("check", instance, plan, "--json")
    assert outcome.code == 1
    assert outcome.document["ok"] is False
    assert outcome.document["rules"]["placement"] > 0
    assert outcome.document["violations"][0].keys() == {"rule", "where", "message", "excess"}
    assert planner("check", instance, plan).code == 1

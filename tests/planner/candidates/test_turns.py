"""The shipped jobs on rails that turn inside a step: what that is worth, told everywhere alike."""

import pytest

from planner import Instance, check, solve
from planner.candidates.turns import turns_in_words
from planner.cli.tables.jobs_table import chosen, phase_lines
from planner.explain import explain
from planner.fabrics import plugin_of
from planner.model.result import Result, Status
from planner.report.jobs import job_rows
from tests.paths import ROOT

FOLDER = ROOT / "instances" / "ocs_rail"


def solved(name: str) -> tuple[Instance, Result]:
    instance = Instance.load(FOLDER / f"{name}.yaml")
    result = solve(instance, time_limit_s=60, seed=1)
    assert result.plan is not None
    assert all(level.status is Status.OPTIMAL for level in result.levels)
    assert check(instance, result.plan, starts=True) == []
    return instance, result


def test_turns_let_experts_and_replicas_have_all_ports() -> None:
    (instance, turned), (held, plain) = solved("turns"), solved("turns_plain")
    assert (turned.objective, plain.objective) == (pytest.approx(7.86, abs=0.01), pytest.approx(7.38, abs=0.01))
    assert turned.plan is not None
    assert plain.plan is not None
    step_s = [found.plan["experts"].step_s for found in (turned, plain) if found.plan is not None]
    assert step_s == [pytest.approx(46.5, abs=0.1), pytest.approx(62.0, abs=0.1)]
    assert all(not turns_in_words(held.cluster, held.job(each.job), each) for each in plain.plan.assignments)
    words = {
        each.job: turns_in_words(instance.cluster, instance.job(each.job), each) for each in turned.plan.assignments
    }
    assert words["experts"].startswith("layers | data on 4 ports of each accelerator; ")
    assert words["stages"].startswith("pipeline | data on 4 ports of each accelerator; 4 switches in a step, 0.08 s, ")
    assert words["stages"].endswith("0.08 s of them behind operators: a step waits 0.0% of its time for them")
    assert {name: chosen(turned.plan[name].configuration) for name in ("experts", "small")} == {
        "experts": ["turns layers | data"],
        "small": [],
    }
    lines = phase_lines(instance, turned.plan)
    assert [line for line in lines if "turns" in line] == [
        f"{name}: turns of circuits {text}" for name, text in words.items() if text
    ]
    rows = {row["name"]: row["plan"] for row in job_rows(instance, turned, {})}
    assert {name: plan.get("turns", "") for name, plan in rows.items()} == words
    assert {held["dimension"] for held in rows["experts"]["circuits"]} == {"data in data", "expert in layers"}
    told = explain(instance, "experts", plan=turned.plan, time_limit_s=5)
    assert any(statement.text == f"its circuits take turns: {words['experts']}" for statement in told.statements)


def test_slow_switches_of_tiles_hide_behind_operators() -> None:
    (instance, hidden), (plain, waited) = solved("../lumorph/hidden"), solved("../lumorph/hidden_plain")
    assert hidden.plan is not None
    assert waited.plan is not None
    name = "experts-training"
    assert hidden.objective > waited.objective + 0.05
    assert hidden.plan[name].step_s == pytest.approx(8.40, abs=0.05)
    assert waited.plan[name].step_s == pytest.approx(9.69, abs=0.05)
    words = {
        each.job: turns_in_words(instance.cluster, instance.job(each.job), each) for each in hidden.plan.assignments
    }
    assert words[name].startswith("by dimension; ")
    assert words[name].endswith("1.29 s of them behind operators: a step waits 21.2% of its time for them")
    assert words["experts-serving"] == ""
    assert not any(turns_in_words(plain.cluster, plain.job(each.job), each) for each in waited.plan.assignments)


def test_switches_are_set_for_the_first_turn() -> None:
    """Ports of an accelerator are in no two circuits there: what drivers set is one turn of each job."""
    instance, turned = solved("turns")
    assert turned.plan is not None
    states = plugin_of(instance.cluster.fabric).switch_ports.states(instance, turned.plan.assignments)
    for state in states:
        for ends in zip(*state.connections, strict=True):
            assert len(set(ends)) == len(ends)
    assert len(states) == instance.cluster.fabric.num_optical_switches

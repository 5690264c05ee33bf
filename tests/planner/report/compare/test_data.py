"""What the page of a comparison is told, before it is drawn."""

import json
from typing import Any

import pytest

from planner.report.compare.data import page_data
from planner.studies.compare.rows import PolicyRow
from planner.studies.compare.summary import best, summarize
from tests.planner.report.compare.rows import ROWS, row


def _data(rows: list[PolicyRow] = ROWS, *, are_same_jobs: bool = True) -> dict[str, Any]:
    return page_data(
        rows,
        None,
        ["a note"],
        are_same_jobs=are_same_jobs,
        with_timings=True,
        command="planner",
        versions={},
        inputs={},
    )


def _column(data: dict[str, Any], name: str) -> int:
    return [measure["name"] for measure in data["measures"]].index(name)


def test_the_table_is_what_the_command_prints() -> None:
    data = _data()
    for number, line in enumerate(summarize(ROWS)):
        condition, run = divmod(number, 3)
        for name, mean in line.figures.items():
            if name in ("violations",):
                continue
            found = data["table"][condition][run][_column(data, name)]
            assert found[:2] == [pytest.approx(mean.mean), pytest.approx(mean.half_width, rel=1e-5, abs=1e-9)], name


def test_the_best_are_those_that_the_command_prints_bold() -> None:
    """Less power for fewer jobs is no merit: `lazy` takes the least, and is not compared."""
    data = _data()
    lines = summarize(ROWS)
    for condition in (0, 1):
        bold = best(lines[3 * condition : 3 * condition + 3])
        for name in ("value", "power_w"):
            standings = data["standings"][condition][_column(data, name)]
            assert {run for run, each in enumerate(standings) if each == "best"} == bold[name], name
    assert data["standings"][0][_column(data, "power_w")] == ["best", "", ""]
    told = "rack by lazy runs 1 of 4 jobs with fibers=1 or fibers=2."
    assert any(text.startswith("Not compared in these: ") and text.endswith(told) for text in data["caveats"])


def test_an_instance_that_runs_fewer_jobs_is_never_the_best_in_what_it_does_or_takes() -> None:
    rows = [row("a", 5.0), row("a", 5.0, instance="pod", admitted=2, tokens_per_s=2e5, joules_per_token=0.1)]
    same, other = _data(rows), _data(rows, are_same_jobs=False)
    for name in ("tokens_per_s", "joules_per_token"):
        assert same["standings"][0][_column(same, name)] == ["best", ""]
        assert other["standings"][0][_column(other, name)] == ["best", "best"], "each beside its own instance"
    assert same["standings"][0][_column(same, "value")] == ["best", "best"]
    assert "Not compared in these: pod runs 2 of 4 jobs." in same["caveats"]
    assert not any("Not compared" in text for text in other["caveats"])


def test_fronts_are_of_plans_that_hold() -> None:
    data = _data()
    assert data["axes"][0] == {"gain": "value", "cost": "power_w"}
    assert data["fronts"][0][0] == [True, False, True]
    refused = [row("a", 9.0, violations=2), row("b", 5.0)]
    assert _data(refused)["fronts"][0][0] == [False, True]
    assert any("which is an error of the program" in text for text in _data(refused)["caveats"])


def test_conditions_and_what_is_unknown() -> None:
    data = _data()
    assert [each["chip"] for each in data["conditions"]] == ["fibers=1", "fibers=2"]
    assert data["limits"] == {"value": "bound"}
    assert "samples_per_s" not in {measure["name"] for measure in data["measures"]}
    alone = _data([row("a", None)])
    assert alone["conditions"][0]["name"] == "as written"
    assert alone["leads"] == []
    json.dumps([data, alone], allow_nan=False)

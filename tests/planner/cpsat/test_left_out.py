"""What is said of jobs that a plan leaves out follows from what the objectives ask for."""

import re
from pathlib import Path

import pytest

from tests.planner.cli.conftest import Planner, fields, planner, written  # noqa: F401


@pytest.mark.slow
@pytest.mark.parametrize(
    ("objectives", "told"),
    [
        (["energy"], "no objective of [energy] asks for it to run: list value first, or make it required"),
        (["energy", "value"], "energy comes before value in the objectives and asks for no job to run"),
        (["moves", "energy", "value"], "energy comes before value in the objectives and asks for no job to run"),
    ],
)
@pytest.mark.parametrize("policy", ["cpsat", "best_fit"])
def test_objectives_that_ask_for_nothing_are_named(
    planner: Planner,  # noqa: F811
    tmp_path: Path,
    objectives: list[str],
    told: str,
    policy: str,
) -> None:
    outcome = planner("solve", written(tmp_path, fields() | {"objectives": objectives}), "--policy", policy)
    assert outcome.code == 0
    assert "no way to run it was found" not in outcome.out
    if policy == "cpsat":
        assert "0 of 2 jobs" in outcome.out
        assert outcome.out.count(told) == 2


def test_a_required_job_runs_and_the_other_is_not_said_to_give_way(planner: Planner, tmp_path: Path) -> None:  # noqa: F811
    content = fields() | {"objectives": ["energy"]}
    content["jobs"][0]["required"] = True
    outcome = planner("solve", written(tmp_path, content))
    assert "left out for what runs instead" not in outcome.out
    assert "small  -  not placed: no objective of [energy] asks for it to run" in outcome.out


def test_the_command_that_tells_more_can_be_copied(planner: Planner, tmp_path: Path) -> None:  # noqa: F811
    content = fields() | {"objectives": ["moves", "value", "energy"]}
    content["jobs"][0]["accelerators"] = content["jobs"][1]["accelerators"] = 4
    content["jobs"][0]["name"], content["jobs"][1]["name"] = "a $(job)", "b $(job)"
    told = planner("solve", written(tmp_path, content)).out
    assert re.search(r"\(planner explain \S+ '[ab] \$\(job\)'\)", told), told


def test_where_value_decides_nothing_changes(planner: Planner, tmp_path: Path) -> None:  # noqa: F811
    content = fields() | {"objectives": ["moves", "value", "energy"]}
    content["jobs"][0]["accelerators"] = content["jobs"][1]["accelerators"] = 4
    assert "small  -  not placed: left out for what runs instead" in planner("solve", written(tmp_path, content)).out

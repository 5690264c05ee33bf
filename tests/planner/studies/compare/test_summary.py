"""Grids of policies and parameters: bounds by variant, intervals over seeds, the best marked."""

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from planner.cli import main
from planner.cli.output import BEST
from planner.studies.compare.rows import PolicyRow
from planner.studies.compare.summary import best, summarize, undecided
from tests.planner.cli.conftest import fields, written

ROW = PolicyRow(
    instance="i", parameters={"a.b": 1}, policy="p", seed=0, status="FEASIBLE", objective="value", reached=2.0,
    value=2.0, admitted=2, jobs=3, devices_used=4, devices_healthy=8, energy=5.0, power_w=700.0,
    tokens_per_s=None, joules_per_token=None, samples_per_s=None, joules_per_sample=None, fragmentation=0.0, moves=0.0,
    bound=4.0, gap=0.5, violations=0, wall_time_s=1.0,
)  # fmt: skip


def _rows(policy: str, values: list[float | None], **fields: Any) -> list[PolicyRow]:
    return [replace(ROW, policy=policy, seed=seed, value=value, **fields) for seed, value in enumerate(values)]


def test_lines_hold_means_with_student_intervals() -> None:
    lines = summarize(_rows("one", [2.0, 3.0, 4.0]) + _rows("two", [3.0, None, 3.0]))
    one, two = lines
    assert (one.figures["value"].mean, one.seeds, one.plans) == (3, 3, 3)
    assert one.figures["value"].half_width == pytest.approx(4.302653 * 1 / 3**0.5, rel=1e-6)
    assert (two.figures["value"].mean, two.figures["value"].half_width, two.plans) == (3, 0, 2)
    assert "value" not in summarize(_rows("none", [None]))[0].figures
    assert summarize(_rows("single", [2.0]))[0].figures["value"].half_width is None


def test_the_best_are_those_that_always_found_a_sound_plan() -> None:
    rows = (
        _rows("good", [3.0, 3.0], energy=6.0)
        + _rows("even", [3.0, 3.0], energy=5.5)
        + _rows("low", [1.0, 1.0], admitted=1)
    )
    rows += _rows("wrong", [9.0, 9.0], violations=1) + _rows("often", [9.0, None])
    found = best(summarize(rows))
    assert found["value"] == {0, 1}
    assert found["energy"] == {1}, "low takes less and runs less"
    assert found["gap"] == {0, 1, 2}
    assert best(summarize(rows[:2])) == {}


def test_a_variant_is_not_called_worse_than_what_its_bound_allows() -> None:
    def row(given: int, value: float, bound: float | None) -> PolicyRow:
        return replace(ROW, parameters={"a.b": given}, value=value, bound=bound)

    rows = [row(1, 3.0, 3.0), row(2, 2.5, 4.0), row(3, 1.0, 2.0), row(4, 1.0, None)]
    assert undecided(rows) == ["i with a.b=2"]
    assert undecided([*rows, row(2, 4.0, 4.0)]) == []


@pytest.fixture
def instance(tmp_path: Path) -> Path:
    """Two jobs of which one fits where servers have one tile."""
    content = fields()
    content["jobs"] = [content["jobs"][1] | {"accelerators": 4}, content["jobs"][0] | {"accelerators": 2}]
    return written(tmp_path, content)


def test_every_variant_has_a_bound_of_its_own(instance: Path, tmp_path: Path, capsys: Any) -> None:
    table, rows = tmp_path / "rows.parquet", tmp_path / "rows.json"
    arguments = [
        "compare", instance, "--policies", "cpsat,first_fit", "--threads", 1, "--seeds", 2, "--grid",
        "jobs[big].weight=3,0.5", "--results", tmp_path / "runs", "--csv", table,
        "--out-json", rows,
    ]  # fmt: skip
    assert main([str(argument) for argument in arguments]) == 0
    out = capsys.readouterr().out
    known = json.loads(rows.read_text("utf-8"))
    assert [(row["jobs[big].weight"], row["policy"], row["seed"], row["value"], row["bound"]) for row in known] == [
        (3, "cpsat", 0, 3, 3), (3, "cpsat", 1, 3, 3), (3, "first_fit", 0, 1, 3), (3, "first_fit", 1, 1, 3),
        (0.5, "cpsat", 0, 1, 1), (0.5, "cpsat", 1, 1, 1), (0.5, "first_fit", 0, 1, 1), (0.5, "first_fit", 1, 1, 1),
    ]  # fmt: skip
    assert pd.read_parquet(table)["value"].tolist() == [row["value"] for row in known]
    lines = [line.split() for line in out.splitlines()]
    assert lines[1][:5] == ["weight", "policy", "plans", "value", "bound"]
    assert lines[4][:6] == ["0.5", "cpsat", "2", "of", "2", "1"]
    assert BEST not in out


def test_nothing_is_solved_where_a_variant_is_wrong(instance: Path, tmp_path: Path, capsys: Any) -> None:
    arguments = ["compare", instance, "--grid", "cluster.fabric.fibers=1,many", "--results", tmp_path / "runs"]
    assert main([str(argument) for argument in arguments]) == 2
    assert "tiny.json with cluster.fabric.fibers=many: cluster.fabric.fibers: " in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


def test_two_instances_of_one_name_are_refused(instance: Path, tmp_path: Path, capsys: Any) -> None:
    assert main(["compare", str(instance), str(instance), "--results", str(tmp_path / "runs")]) == 2
    assert "'tiny' is the name of two instances; rename one" in capsys.readouterr().err


def test_finished_runs_are_taken_from_the_folder(instance: Path, tmp_path: Path) -> None:
    def times(*options: str) -> list[str]:
        arguments = ["compare", instance, "--policies", "first_fit", "--results", tmp_path / "runs"]
        assert main([*map(str, arguments), "--csv", str(tmp_path / "o.csv"), *options]) == 0
        with (tmp_path / "o.csv").open() as file:
            return [row["wall_time_s"] for row in csv.DictReader(file)]

    first = times()
    assert times() == first
    assert times("--seed", "1") != first
    assert times("--no-timings") == [""]
    assert len(list((tmp_path / "runs").iterdir())) == 2

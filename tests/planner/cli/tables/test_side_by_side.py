"""Instances with the same jobs side by side: the best plan of each, and who leads in what."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.text import Text

from planner.cli.tables.side_by_side import best_of_each, leads_line, left_out_line, side_by_side
from planner.studies.compare.rows import PolicyRow
from planner.studies.compare.summary import PolicySummary
from tests.planner.cli.conftest import Planner, written
from tests.planner.studies.compare.reference_cases import crowded

ROW = PolicyRow(
    instance="", parameters={}, policy="", seed=0, status="FEASIBLE", objective="value", reached=2.0, value=2.0,
    admitted=2, jobs=3, devices_used=4, devices_healthy=8, energy=5.0, power_w=700.0, tokens_per_s=None,
    joules_per_token=None, samples_per_s=None, joules_per_sample=None, fragmentation=0.0, moves=0.0, bound=4.0, gap=0.5,
    violations=0, wall_time_s=1.0,
)  # fmt: skip


def _row(instance: str, policy: str, value: float | None, **changed: Any) -> PolicyRow:
    return replace(ROW, instance=instance, policy=policy, value=value, **changed)


ROWS = [
    _row("light", "cpsat", 11.0, cost_per_h=30.0), _row("light", "best_fit", 10.0, cost_per_h=20.0),
    _row("wires", "cpsat", None), _row("wires", "best_fit", 10.0, cost_per_h=24.0),
    _row("rails", "cpsat", 12.0, violations=1), _row("rails", "best_fit", 9.0, cost_per_h=60.0),
]  # fmt: skip


def _bold(lines: Sequence[PolicySummary]) -> list[str]:
    cells = (cell for column in side_by_side(lines).columns for cell in column.cells)
    return [cell.plain for cell in cells if isinstance(cell, Text) and cell.style == "bold"]


def test_each_instance_is_there_with_its_best_sound_plan() -> None:
    lines = best_of_each(ROWS)
    assert [(line.first.instance, line.first.policy) for line in lines] == [
        ("light", "cpsat"), ("wires", "best_fit"), ("rails", "best_fit"),
    ]  # fmt: skip
    shown = side_by_side(lines)
    assert [str(cell) for cell in shown.columns[2].cells] == ["11", "10", "9"]
    assert _bold(lines) == ["11", "24"]


def test_who_leads_is_told_with_the_distance_to_the_next() -> None:
    lines = best_of_each(ROWS)
    assert leads_line(lines) == "most value: light (11, 10.0 % from wires); least cost/h: wires (24, 20.0 % from light)"
    assert leads_line(best_of_each([*ROWS[:2], _row("same", "cpsat", 11.0)])) == "", "equal, and a cost unknown"


def test_an_instance_that_runs_fewer_jobs_leads_in_value_alone() -> None:
    figures = {"tokens_per_s": 90.0, "joules_per_token": 0.2, "cost_per_h": 5.0}
    rows = [
        _row("tree", "a", 10.0, tokens_per_s=70.0, joules_per_token=0.5, cost_per_h=9.0),
        _row("rails", "a", 9.0, tokens_per_s=80.0, joules_per_token=0.4, cost_per_h=8.0),
        _row("light", "a", 11.0, admitted=1, **figures),
    ]
    lines = best_of_each(rows)
    most = "most value: light (11, 10.0 % from tree); most tokens/s: rails (80.0, 14.3 % from tree); "
    assert leads_line(lines).startswith(most + "least energy/token: rails (400 mJ, 20.0 % from tree); ")
    assert left_out_line(lines) == "compared in value alone, as others run more jobs: light runs 1 of 3 jobs"
    assert left_out_line(lines[:2]) == ""
    assert _bold(lines) == ["11", "80.0", "400 mJ", "8"]
    assert leads_line([lines[0], lines[2]]) == "most value: light (11, 10.0 % from tree)"


def test_it_is_printed_for_the_same_jobs_alone(tmp_path: Path, planner: Planner) -> None:
    other = crowded() | {"name": "other"}
    files = [written(tmp_path, crowded()), written(tmp_path, other, "other.json")]
    common = ("--policies", "best_fit", "--results", tmp_path / "runs", "--no-timings")
    assert "best of each" in planner("compare", *files, *common).out
    assert "best of each" not in planner("compare", files[0], *common).out
    other["jobs"] = other["jobs"][:1]
    written(tmp_path, other, "other.json")
    assert "best of each" not in planner("compare", *files, *common).out

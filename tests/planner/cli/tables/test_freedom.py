"""The table of planner compare --plain."""

from pathlib import Path

import pytest

from tests.planner.cli.conftest import Planner
from tests.planner.studies.compare.reference_cases import twin_files


def test_a_line_says_what_the_freedom_is_worth(tmp_path: Path, planner: Planner) -> None:
    path = twin_files(tmp_path)
    common = ("--plain", "--results", tmp_path / "runs", "--threads", 1)
    (row,) = planner("compare", path, *common, "--json").document
    assert row["worth"] == row["proven_worth"] == pytest.approx(row["value"] / row["plain_value"] - 1)
    assert row["worth"] > 0.01
    assert (row["gap"], row["plain_gap"], row["violations"], row["plain_violations"]) == (0, 0, 0, 0)
    assert row["tokens_per_s"] > row["plain_tokens_per_s"]
    line = next(line for line in planner("compare", path, *common).out.splitlines() if line.startswith("own "))
    assert f"+{100 * row['worth']:.1f} %" in line


def test_options_that_the_table_has_no_place_for_are_refused(tmp_path: Path, planner: Planner) -> None:
    path = twin_files(tmp_path)
    for option, value in (("--seeds", 2), ("--policies", "best_fit"), ("--grid", "jobs[a].weight=1,2")):
        found = planner("compare", path, "--plain", option, value)
        assert found.code == 2
        assert option in found.err
        assert "leave it out" in found.err

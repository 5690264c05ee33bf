"""The table of a comparison says what figures are measured against."""

from pathlib import Path

from tests.planner.cli.conftest import Planner, written
from tests.planner.studies.compare.reference_cases import crowded


def test_the_table_says_what_figures_are_measured_against(tmp_path: Path, planner: Planner) -> None:
    other = crowded()
    other["name"], other["jobs"] = "other", [{**other["jobs"][0], "name": "c"}]
    files = [written(tmp_path, crowded()), written(tmp_path, other, "other.json")]
    common = ("--policies", "best_fit", "--results", tmp_path / "runs", "--no-timings")
    out = planner("compare", *files, *common).out
    assert "in the first file that lists it: tiny, other" in out
    assert "their jobs differ (only in tiny: a, b; only in other: c)" in out
    assert "best of each" not in out
    assert "tokens/s" in out
    assert "measured" not in planner("compare", files[0], *common).out

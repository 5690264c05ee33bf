"""planner solve and planner pages on a rack whose jobs offload."""

import json
import re
from pathlib import Path

import pytest

from planner.cli import main
from planner.cli.tables.summary import second_tier_lines
from planner.model.plan import Plan
from tests.paths import ROOT

RACK = str(ROOT / "instances" / "joint" / "rack48.yaml")


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A plan, and its page."""
    folder = tmp_path_factory.mktemp("second_tier")
    plan, page = folder / "plan.json", folder / "page.html"
    options = ["--time-limit", "10", "--pages-time-limit", "1", "--threads", "2"]
    assert main(["solve", RACK, *options, "--plan-out", str(plan), "--report", str(page)]) == 0
    return plan, page


@pytest.mark.slow
def test_the_plan_says_where_tensors_are(solved: tuple[Path, Path]) -> None:
    plan = Plan.load(solved[0])
    assert main(["check", RACK, str(solved[0])]) == 0
    lines = second_tier_lines(plan)
    assert len(lines) == sum(each.second_tier is not None for each in plan.assignments)
    assert lines[0].startswith("gpt175b-train: step")
    assert "too large without ddr5-unit x 4" in lines[0]
    assert re.search(r"[\d,]+ of [\d,]+ tensors recomputed", lines[0])


def test_the_page_shows_where_tensors_are(solved: tuple[Path, Path]) -> None:
    page = solved[1].read_text(encoding="utf-8")
    assert "drawTier" in page
    assert '"second_tier"' in page
    assert "layer 1 optimizer" in page


@pytest.mark.slow
def test_pages_of_a_plan(solved: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plot = tmp_path / "tiers.png"
    assert (
        main(["pages", RACK, "gpt175b-train", "--plan", str(solved[0]), "--plot", str(plot), "--time-limit", "3"]) == 0
    )
    printed = capsys.readouterr().out
    assert "10 % more bandwidth to ddr5-unit x 4" in printed
    assert "layer 1 optimizer" in printed
    assert "0 violations" in printed
    assert plot.stat().st_size > 10_000
    assert main(["pages", RACK, "llama8b-long", "--plan", str(solved[0]), "--json", "--no-gains"]) == 0
    assert json.loads(capsys.readouterr().out)["violations"] == []


def test_what_is_wrong_is_told(solved: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    for command, told in (
        ([RACK, "--plan", str(solved[0])], "with --plan one job is shown"),
        ([RACK, "nobody", "--plan", str(solved[0])], "nobody"),
        ([RACK, "llama70b-serve", "--plan", str(solved[0])], "offloads nothing"),
    ):
        assert main(["pages", *command]) == 2
        assert told in capsys.readouterr().err

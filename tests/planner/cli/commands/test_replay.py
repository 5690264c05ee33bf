"""planner trace and planner replay."""

import hashlib
import json
from pathlib import Path

import pytest

from planner.simulate.placers import PLACERS
from tests.paths import ROOT
from tests.planner.cli.commands.replay_cases import replay
from tests.planner.cli.conftest import Planner

SHIPPED = ROOT / "instances" / "replay"


@pytest.mark.slow
def test_a_trace_is_replayed_to_a_table(planner: Planner, files: dict[str, Path]) -> None:
    options = (
        "--policies",
        "first_fit,best_fit_moving",
        "--load",
        "0.6,0.9",
        "--seeds",
        "5",
        "--jobs",
        "100",
        "--csv",
        files["csv"],
    )
    outcome = replay(planner, files, "trace", *options)
    assert outcome.code == 0
    assert [line for line in outcome.out.splitlines() if line.startswith("load")] == [
        "load 0.6   5 seeds", "load 0.9   5 seeds",
    ]  # fmt: skip
    assert "±" in outcome.out
    rows = files["csv"].read_text(encoding="utf-8").splitlines()
    assert rows[0].startswith("cluster,policy,load,measure")
    again = replay(planner, files, "trace", *options)
    assert again.out == outcome.out
    assert files["csv"].read_text(encoding="utf-8").splitlines() == rows


@pytest.mark.slow
def test_a_demand_model_is_drawn_anew_for_each_seed(planner: Planner, files: dict[str, Path]) -> None:
    rows = replay(planner, files, "model", "--seeds", "2", "--jobs", "80", "--json", "--queue", "loss").document
    admitted = next(row for row in rows if row["measure"] == "admitted")
    assert admitted["seeds"] == 2
    assert 0 < admitted["mean"] <= 1
    assert admitted["half_width"] > 0
    alone = replay(planner, files, "model", "--seeds", "1", "--jobs", "80", "--json", "--queue", "loss").document
    assert next(row for row in alone if row["measure"] == "admitted")["half_width"] is None
    assert not any(row["measure"] == "events_per_s" for row in rows)
    timed = replay(planner, files, "model", "--seeds", "2", "--jobs", "80", "--json", "--timings").document
    assert any(row["measure"] == "events_per_s" for row in timed)


@pytest.mark.slow
def test_failures_are_sampled(planner: Planner, files: dict[str, Path]) -> None:
    parts = files["cells"].with_name("parts.yaml")
    parts.write_text("tile: {time_between_failures: 2 d, repair_time: 1 h}\n", encoding="utf-8")
    options = ("--seeds", "1", "--jobs", "200", "--failures", parts, "--migrate", "--json")
    rows = {row["measure"]: row for row in replay(planner, files, "model", *options).document}
    assert rows["interruptions"]["mean"] > 0


@pytest.mark.slow
def test_a_page_is_written(planner: Planner, files: dict[str, Path], tmp_path: Path) -> None:
    prices, page = tmp_path / "prices.yaml", tmp_path / "page.html"
    text = "currency: EUR\nenergy_per_kwh: 0.2\nlifetime: 1461 d\nclusters: {tree: 2000000}\n"
    prices.write_text(text, encoding="utf-8")
    options = ("--seeds", "2", "--jobs", "80", "--html", page, "--snapshots", "0.9,0.1", "--prices", prices, "--json")
    rows = {row["measure"]: row for row in replay(planner, files, "model", *options).document}
    assert rows["cost_per_accelerator_h"]["unit"] == "EUR"
    assert rows["cost_per_accelerator_h"]["mean"] > 2e6 / 32 / (4 * 8766)
    first = page.read_bytes()
    for file in (files["model"], files["cluster"], prices):
        assert hashlib.sha256(file.read_bytes()).hexdigest().encode() in first
    assert b'"moments":[0.1,0.9]' in first
    replay(planner, files, "model", *options)
    assert page.read_bytes() == first


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--snapshots", "0.5,2"), "'2'"),
        (("--snapshots", ",".join(f"0.{i}" for i in range(10, 30))), "20 moments"),
        (("--html", "absent/page.html"), "does not exist"),
        (("--policies", "nearest"), "policies are"),
        (("--policies", ","), "names no policy"),
        (("--load", "0.5,many"), "'many'"),
        (("--mix", "absent.yaml"), "absent.yaml"),
        (("--prices", "absent.yaml"), "absent.yaml"),
    ],
)
def test_wrong_options_are_named(planner: Planner, files: dict[str, Path], options: tuple[str, ...], told: str) -> None:
    outcome = replay(planner, files, "trace", *options)
    assert outcome.code == 2
    assert told in outcome.err


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(SHIPPED.glob("*256.yaml")), ids=lambda path: path.stem)
def test_shipped_clusters_run_the_shipped_mix(planner: Planner, tmp_path: Path, path: Path) -> None:
    drawn = tmp_path / "jobs.csv"
    assert planner("trace", "-o", drawn, "--jobs", "40").code == 0
    outcome = planner("replay", drawn, "--cluster", path, "--seeds", "1", "--results", tmp_path / "cells", "--json")
    rows = {(row["policy"], row["measure"]): row["mean"] for row in outcome.document}
    assert rows["first_fit", "admitted"] > 0.9


@pytest.mark.slow
def test_the_terminal_says_what_the_page_says_of_its_figures(planner: Planner, files: dict[str, Path]) -> None:
    """A queue that grows, and intervals over seeds that replay the same jobs."""
    page = files["csv"].with_suffix(".html")
    out = replay(planner, files, "trace", "--seeds", "2", "--load", "0.5,9", "--html", page).out
    growing = next(line for line in out.splitlines() if "The queue still grows" in line)
    assert growing.startswith("Load 9: The queue still grows at the end in all runs")
    assert out.count("The queue still grows") == 1
    caveats = [line.removeprefix("- ") for line in out.splitlines() if line.startswith("- ")]
    assert any(line.startswith("Every seed replays the same jobs: intervals show the chance of") for line in caveats)
    told = page.read_text(encoding="utf-8")
    assert all(json.dumps(line)[1:-1].split("<")[0] in told for line in caveats)


@pytest.mark.slow
def test_a_former_name_is_told_and_the_solver_named(planner: Planner, files: dict[str, Path]) -> None:
    outcome = replay(planner, files, "trace", "--seeds", "1", "--jobs", "60", "--policies", "cpsat,solver")
    assert "cpsat in a replay is best_fit_moving: best fit; where a job finds no room" in outcome.err
    assert "the solver itself is solver" in outcome.err
    lines = [line.split() for line in outcome.out.splitlines()]
    assert ["tree", "best_fit_moving"] in [line[:2] for line in lines]
    assert not any(line[1:2] == ["cpsat"] for line in lines)
    assert "Running jobs move under best_fit_moving alone" in outcome.out
    assert all(name in planner("replay", "--help").out for name in PLACERS)

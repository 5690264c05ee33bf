"""`planner compare` tells what its figures are measured against, and what plans cost."""

import csv
import hashlib
import json
from pathlib import Path

import pytest

from planner.studies.compare.rows import PolicyRow
from tests.planner.cli.conftest import Planner, fields, written
from tests.planner.studies.compare.reference_cases import crowded

PRICES = "currency: EUR\nenergy_per_kwh: 0\nlifetime: 1000 h\n"


def test_finished_runs_of_another_reference_are_not_taken(tmp_path: Path, planner: Planner) -> None:
    """The same variant beside another first file is another run."""
    slow, fast = crowded(), crowded()
    slow["name"], slow["cluster"]["fabric"]["wavelength_bandwidth"] = "slow", "1 GB/s"
    files = [written(tmp_path, fast), written(tmp_path, slow, "slow.json")]
    common = ("--policies", "best_fit", "--results", tmp_path / "runs", "--json")
    first = {row["instance"]: row for row in planner("compare", *files, *common).document}
    second = {row["instance"]: row for row in planner("compare", *files[::-1], *common).document}
    again = {row["instance"]: row for row in planner("compare", *files, *common).document}
    assert first["slow"]["value"] < second["slow"]["value"] == 3
    assert again == first


def test_prices_add_what_an_hour_and_a_million_tokens_cost(tmp_path: Path, planner: Planner) -> None:
    prices = tmp_path / "prices.yaml"
    prices.write_text(f"{PRICES}parts: {{accelerator: 1000, optical_port: 500}}\n", "utf-8")
    path = written(tmp_path, crowded())
    common = ("--policies", "best_fit", "--results", tmp_path / "runs", "--prices", prices)
    row = planner("compare", path, *common, "--json").document[0]
    assert row["cost_per_h"] == pytest.approx(4 * 1500 / 1000)
    assert row["cost_per_million_tokens"] == pytest.approx(6 / (row["tokens_per_s"] * 3600) * 1e6)
    page = tmp_path / "page.html"
    assert "cost in EUR" in planner("compare", path, *common, "--report", page).out
    text = page.read_text("utf-8")
    assert '"unit":"EUR"' in text
    assert hashlib.sha256(prices.read_bytes()).hexdigest() in text
    refused = planner("compare", path, "--plain", "--html", page)
    assert (refused.code, "--report" in refused.err) == (2, True)


def test_a_missing_price_names_the_file(tmp_path: Path, planner: Planner) -> None:
    prices = tmp_path / "prices.yaml"
    prices.write_text(f"{PRICES}parts: {{accelerator: 1000}}\n", "utf-8")
    refused = planner("compare", written(tmp_path, crowded()), "--results", tmp_path / "runs", "--prices", prices)
    assert refused.code == 2
    assert f"{prices}: parts.optical_port: has no price, and there are 4 of them; add one" in refused.err
    prices.write_text(f"{PRICES}color: red\n", "utf-8")
    refused = planner("compare", written(tmp_path, crowded()), "--results", tmp_path / "runs", "--prices", prices)
    assert "`planner schema prices` lists them" in refused.err


def test_one_price_of_a_cluster_cannot_hold_for_its_variants(tmp_path: Path, planner: Planner) -> None:
    prices = tmp_path / "prices.yaml"
    prices.write_text(f"{PRICES}clusters: {{tiny: 1000}}\n", "utf-8")
    path = written(tmp_path, crowded())
    common = ("--policies", "best_fit", "--results", tmp_path / "runs", "--prices", prices)
    found = planner("compare", path, *common, "--grid", "cluster.fabric.fibers=1,2")
    assert found.code == 2
    assert "one price of 'tiny' cannot hold for variants of its cluster; give prices of parts" in found.err
    assert planner("compare", path, *common, "--grid", "jobs[a].weight=1,2").code == 0


def test_compare_prints_a_table_for_each_instance(planner: Planner, instance: Path, tmp_path: Path) -> None:
    other = written(tmp_path, fields() | {"name": "other"}, "other.json")
    table, rows = tmp_path / "rows.csv", tmp_path / "rows.json"
    outcome = planner(
        "compare", instance, other, "--policies", "cpsat,first_fit", "--time-limit", 20, "--threads", 1,
        "--csv", table, "--out-json", rows, "--results", tmp_path / "runs",
    )  # fmt: skip
    assert outcome.code == 0
    assert outcome.out.count("policy ") == 2
    first = next(line.split() for line in outcome.out.splitlines() if line.startswith("first_fit"))
    assert first[:4] == ["first_fit", "4", "4", "0"]
    parsed = list(csv.DictReader(table.read_text("utf-8").splitlines()))
    assert [(row["instance"], row["policy"]) for row in parsed] == [
        ("tiny", "cpsat"), ("tiny", "first_fit"), ("other", "cpsat"), ("other", "first_fit")
    ]  # fmt: skip
    assert list(parsed[0]) == [name for name in PolicyRow.__dataclass_fields__ if name != "parameters"]
    assert [row["gap"] for row in json.loads(rows.read_text("utf-8"))] == [0, 0, 0, 0]
    assert {row["violations"] for row in parsed} == {"0"}


def test_compare_knows_no_gap_without_a_bound(planner: Planner, instance: Path, tmp_path: Path) -> None:
    outcome = planner(
        "compare", instance, "--policies", "first_fit,random_fit", "--json", "--results", tmp_path / "runs"
    )
    assert [row["gap"] for row in outcome.document] == [None, None]
    assert [row["bound"] for row in outcome.document] == [None, None]


def test_compare_measures_heuristics_by_the_proven_bound(planner: Planner, tmp_path: Path) -> None:
    content = fields()
    content["jobs"] = [content["jobs"][1] | {"accelerators": 4}, content["jobs"][0] | {"accelerators": 2}]
    path = written(tmp_path, content)
    outcome = planner(
        "compare", path, "--policies", "cpsat,first_fit", "--threads", 1, "--json", "--results", tmp_path / "runs"
    )
    best, first_fit = outcome.document
    assert (best["value"], first_fit["value"]) == (3, 1)
    assert first_fit["bound"] == best["bound"] == 3
    assert first_fit["gap"] == pytest.approx(2 / 3)

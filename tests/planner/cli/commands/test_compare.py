"""`planner compare` tells what its figures are measured against, and what plans cost."""

from pathlib import Path

import pytest

from tests.planner.cli.conftest import Planner, written
from tests.planner.studies.compare.test_reference import crowded

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
    assert "cost in EUR" in planner("compare", path, *common).out


def test_one_price_of_a_cluster_cannot_hold_for_its_variants(tmp_path: Path, planner: Planner) -> None:
    prices = tmp_path / "prices.yaml"
    prices.write_text(f"{PRICES}clusters: {{tiny: 1000}}\n", "utf-8")
    path = written(tmp_path, crowded())
    common = ("--policies", "best_fit", "--results", tmp_path / "runs", "--prices", prices)
    found = planner("compare", path, *common, "--grid", "cluster.fabric.fibers=1,2")
    assert found.code == 2
    assert "one price of 'tiny' cannot hold for variants of its cluster; give prices of parts" in found.err
    assert planner("compare", path, *common, "--grid", "jobs[a].weight=1,2").code == 0

"""The benchmarks of datacenters run: figures are in order, and counts bound what circuits allow."""

import csv
import itertools
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.benchmarks.bench_scale import Case, main, measure
from tests.benchmarks.counts import Counts
from tests.benchmarks.counts_solvers import cp_sat, highs, pop
from tests.benchmarks.side_by_side import run

TINY = "64/8"


@pytest.fixture
def counts() -> Counts:
    """Six jobs of two sizes on two racks of 8."""
    rng = np.random.default_rng(1)
    job = np.repeat(np.arange(6), 2)
    return Counts(job, np.tile([3, 5], 6), np.round(rng.random(12), 3) + 0.5 * (np.arange(12) % 2), np.array([8, 8]))


def _best(counts: Counts) -> float:
    """By trying everything: each job has an option in a rack, or none."""
    ways = [[(None, 0)] + [(row, rack) for row in rows for rack in (0, 1)] for rows in counts.options_of()]
    best = 0.0
    for chosen in itertools.product(*ways):
        used = [sum(counts.devices[row] for row, at in chosen if row is not None and at == rack) for rack in (0, 1)]
        if np.all(used <= counts.room):
            best = max(best, float(sum(counts.value[row] for row, _ in chosen if row is not None)))
    return best


@pytest.mark.parametrize("solve", [cp_sat, highs])
def test_models_of_counts_find_the_best(counts: Counts, solve: Callable[..., object]) -> None:
    best = _best(counts)
    seen: list[tuple[float | None, float | None]] = []
    solve(counts, 10.0, lambda value, bound: seen.append((value, bound)))
    assert seen[-1] == (pytest.approx(best, rel=1e-6), pytest.approx(best, rel=1e-6))
    assert all(bound is None or bound >= best - 1e-6 for _, bound in seen)


def test_parts_are_no_better_than_the_whole(counts: Counts) -> None:
    parts: list[float] = []
    pop(counts, 10.0, lambda value, bound: parts.append(value or 0.0), parts=2)
    assert parts == sorted(parts)
    assert parts[-1] <= _best(counts) + 1e-6


def test_figures_of_a_datacenter_are_in_order() -> None:
    figures = measure(Case("fat_tree", 64, 8, None, 0), 5.0, workers=1)
    assert figures.first_s is not None
    assert figures.value is not None
    assert figures.bound is not None
    assert figures.first_s <= figures.plan_s
    assert figures.value <= figures.bound * (1 + 1e-6)


@pytest.mark.slow
def test_ways_side_by_side(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, plot = tmp_path / "steps.csv", tmp_path / "steps.png"
    options = ["--kinds", "fat_tree", "--sizes", TINY, "--time-limit", "0.5", "--csv", str(table), "--plot", str(plot)]
    assert main([*options, "--against", "highs"]) == 0
    assert "HiGHS by counts" in capsys.readouterr().out
    with table.open(encoding="utf-8") as file:
        most = max(float(row["value"]) for row in csv.DictReader(file) if row["value"])
    assert plot.read_bytes().startswith(b"\x89PNG")
    instance = tmp_path / "instance.json"
    instance.write_text(json.dumps(Case("fat_tree", 64, 8, None, 0).data()), encoding="utf-8")
    run("planner", instance, 0.5, parts=1)
    seconds, cpu_s, value, bound = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert 0 < value <= min(most, bound) * (1 + 1e-6)
    assert seconds > 0 < cpu_s

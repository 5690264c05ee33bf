"""The benchmark of the search runs, and its plain Python does the same work."""

import numpy as np
import pytest

from costmodel.pricing.score import score
from tests.benchmarks.bench_search import Setting, measure_rows, measure_search
from tests.benchmarks.naive_training import Naive

MODEL, SIZES = "gpt3-22b", (8, 64)


def test_plain_python_prices_the_same_step() -> None:
    setting = Setting.of(MODEL, SIZES, rank_order="tp-cp-pp-dp", schedule="1f1b")
    mappings = setting.mappings()
    mappings = mappings.take(np.random.default_rng(1).choice(len(mappings), 400, replace=False))
    candidates = setting.candidates(mappings)
    scores = score(candidates, setting.device, setting.fabric)
    best: dict[tuple[int, ...], float] = {}
    for row in range(len(candidates)):
        key = tuple(candidates.mappings.choice(int(candidates.mapping[row])).values())
        best[key] = min(best.get(key, np.inf), float(scores.step_s[row]))
    naive = Naive(setting.workload, setting.device, setting.efficiency, setting.fabric)
    choices = [mappings.choice(row) for row in range(len(mappings))]
    times = {tuple(choice.values()): naive.step_s(choice) for choice in choices}
    fitting = {key: time_s for key, time_s in times.items() if time_s is not None}
    assert 0 < len(fitting) < len(times)
    assert fitting == pytest.approx(best, rel=1e-9)


def test_figures_of_a_search() -> None:
    figures = measure_search(MODEL, SIZES, repeats=1, sample=20)
    counts = figures.counts
    assert counts.listed > counts.fitting > counts.as_calculon > 1000
    assert counts.priced > counts.fitting
    assert figures.over_plain_python > 1
    assert figures.over_one_row > figures.over_plain_python


def test_rows_are_repeated() -> None:
    figures = measure_rows(MODEL, 50_000, SIZES)
    assert figures.rows == 50_000
    assert 0 < figures.table_mb < figures.peak_mb

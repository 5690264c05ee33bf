"""Searches against all candidates looked at one by one, and against closed forms in plain Python."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from costmodel.fabrics import FabricBase, FatTree, fat_tree_of
from costmodel.hardware.device import load_device
from costmodel.hardware.systems import system_of
from costmodel.parallelism.search_space import opened
from costmodel.pricing import divided_mappings as divided_module
from costmodel.pricing import on_devices as on_devices_module
from costmodel.pricing import search as search_module
from costmodel.pricing.candidates import Candidates, enumerate_candidates
from costmodel.pricing.efficiency import efficiency_of
from costmodel.pricing.score import Scores, score
from costmodel.pricing.search import Option, SearchResult, mfu, pareto, priced_batches, search
from costmodel.pricing.search_counts import SearchCounts
from costmodel.workloads import TransformerTraining, Workload
from tests.benchmarks.naive_training import Naive
from tests.costmodel.pricing.score_cases import FABRICS, WORKLOADS, fabric_of

DEVICE = load_device("a100-sxm")
TREE = fat_tree_of(system_of("a100-sxm"), 64)
JOBS: dict[str, dict[str, Any]] = {
    "bert": WORKLOADS["training"] | {"attention": "unfused"},
    "gpt": {"kind": "transformer_training", "model": "gpt3-22b", "global_batch": 12, "sequence": 1024},
    "serving": WORKLOADS["serving"],
}
SIZES = {"bert": [1, 2, 4], "gpt": [4, 8], "serving": [1, 2, 4, 8]}


def job_of(name: str) -> Workload:
    workload: Workload = opened(TypeAdapter(Workload).validate_python(JOBS[name]), DEVICE)
    return workload


def everything(job: Workload, sizes: list[int], fabric: FabricBase) -> tuple[Candidates, Scores]:
    """All candidates, narrower layouts included."""
    found = enumerate_candidates(job, sizes, DEVICE, fabric)
    return found, score(found, DEVICE, fabric)


def costs_of(option: Option) -> tuple[float, float, float]:
    one = option.scores
    return float(one.step_s[0] / one.work[0]), float(one.energy_per_work_j[0]), float(one.footprint_bytes[0])


def summary(found: SearchResult) -> list[Any]:
    return [[(o.configuration, costs_of(o), o.mfu) for o in options] for options in (found.best, found.front)]


def undominated(costs: np.ndarray) -> list[int]:
    """Rows (D, C) that no other row is as good as everywhere and better somewhere; of equals the first."""
    rows = [tuple(column) for column in costs.T]
    kept = []
    for i, mine in enumerate(rows):
        beaten = any(all(a <= b for a, b in zip(other, mine, strict=True)) and other != mine for other in rows)
        if not beaten and mine not in rows[:i]:
            kept.append(i)
    return sorted(kept, key=lambda i: rows[i])


@pytest.mark.parametrize("job_name", JOBS)
def test_best_mappings_are_those_of_all_candidates(job_name: str) -> None:
    job, sizes = job_of(job_name), SIZES[job_name]
    found = search(job, sizes, DEVICE, TREE, top=7)
    candidates, scores = everything(job, sizes, TREE)
    fastest: dict[tuple[int, ...], float] = {}
    for row in range(len(candidates)):
        key = tuple(candidates.mappings.choice(int(candidates.mapping[row])).values())
        time_s = float(scores.step_s[row] / scores.work[row])
        fastest[key] = min(fastest.get(key, np.inf), time_s)
    assert [costs_of(option)[0] for option in found.best] == pytest.approx(sorted(fastest.values())[:7], rel=1e-12)
    assert len({option.configuration for option in found.best}) == min(7, len(fastest))
    listed = [(i, part) for i, (part, _, _) in enumerate(priced_batches(job, sizes, DEVICE, TREE))]
    ordered = {(i, m, o) for i, part in listed for m, o in zip(part.mapping.tolist(), part.order.tolist(), strict=True)}
    further = len(ordered) - len({(i, m) for i, m, _ in ordered})
    assert found.counts.listed == sum(len(job.mappings(size)) for size in sizes) + further


@pytest.mark.slow
@pytest.mark.parametrize("job_name", JOBS)
def test_front_is_that_of_all_candidates(job_name: str) -> None:
    job, sizes = job_of(job_name), SIZES[job_name]
    found = search(job, sizes, DEVICE, TREE)
    listed = [*priced_batches(job, sizes, DEVICE, TREE)]
    scores = [s for _, s, _ in listed]
    costs = np.concatenate([[s.step_s / s.work, s.energy_per_work_j, s.footprint_bytes] for s in scores], axis=1)
    assert found.counts.priced == costs.shape[1]
    # part by part first, since the oracle takes the square of the rows
    rows = np.concatenate([part[undominated(costs[:, part])] for part in np.array_split(np.arange(costs.shape[1]), 40)])
    expected = costs[:, np.sort(rows)][:, undominated(costs[:, np.sort(rows)])]
    np.testing.assert_allclose([costs_of(option) for option in found.front], expected.T, rtol=1e-12)


@pytest.mark.parametrize("attention", ["fused", "unfused"])
@pytest.mark.parametrize("size", [8, 32])
def test_the_best_is_the_best_in_plain_python(attention: str, size: int) -> None:
    job = TransformerTraining.model_validate(JOBS["gpt"] | {"attention": attention})
    job = job.model_copy(update={"micro_batch": (1, 2, 3), "interleave": (1, 2, 4), "zero": (0, 1, 2, 3)})
    job = job.model_copy(update={"recompute": ("none", "full"), "sequence_parallel": (True, False)})
    efficiency, _ = efficiency_of(DEVICE, "training", "bf16")
    naive, mappings = Naive(job, DEVICE, efficiency, TREE), job.mappings(size)
    times = [naive.step_s(mappings.choice(row)) for row in range(len(mappings))]
    fitting = sorted(time_s for time_s in times if time_s is not None)
    found = search(job, [size], DEVICE, TREE, top=5)
    assert [float(o.scores.step_s[0]) for o in found.best] == pytest.approx(fitting[:5], rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("fabric_name", FABRICS)
def test_parts_do_not_change_the_result(fabric_name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    job, fabric = job_of("bert"), fabric_of(FABRICS[fabric_name])
    whole = summary(search(job, [1, 2, 4], DEVICE, fabric))
    for batch, chunk in ((97, 1 << 14), (1 << 18, 211), (331, 53)):
        monkeypatch.setattr(search_module, "BATCH", batch)
        monkeypatch.setattr(on_devices_module, "CHUNK", chunk)
        monkeypatch.setattr(divided_module, "CHUNK", chunk)
        parts = summary(search(job, [1, 2, 4], DEVICE, fabric))
        for mine, theirs in zip(parts, whole, strict=True):
            assert [c for c, _, _ in mine] == [c for c, _, _ in theirs]
            np.testing.assert_allclose([c for _, c, _ in mine], [c for _, c, _ in theirs], rtol=1e-12)


def test_progress_counts_and_nothing_fits() -> None:
    seen: list[int] = []
    found = search(job_of("bert"), [1, 2, 4], DEVICE, TREE, progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == found.counts.listed
    huge = TransformerTraining(model="gpt3-1t", global_batch=4, sequence=2048)
    nothing = search(huge, [1, 2], DEVICE, TREE)
    assert nothing == SearchResult(SearchCounts(nothing.counts.listed), (), ())
    assert nothing.counts.listed > 0
    assert search(huge, [3], DEVICE, TREE) == SearchResult(SearchCounts(len(huge.mappings(3))), (), ())


def test_mfu_is_useful_work_over_the_peak() -> None:
    job = job_of("gpt")
    assert isinstance(job, TransformerTraining)
    best = search(job, [8], DEVICE, TREE, top=1).best[0]
    shape, tokens = job.shape, 12 * 1024
    matrices = 12 * shape.layers * shape.hidden**2 + shape.vocabulary * shape.hidden
    useful = 3 * 2 * tokens * (matrices + shape.layers * shape.hidden * 1024)
    assert best.mfu == pytest.approx(useful / (8 * 312e12 * float(best.scores.step_s[0])), rel=1e-9)
    for candidates, scores, _ in priced_batches(job, [8], DEVICE, TREE):
        assert np.all(mfu(candidates, scores, DEVICE) <= best.mfu * (1 + 1e-12))


def test_a_wider_space_is_never_worse() -> None:
    fixed = TransformerTraining(model="gpt3-22b", global_batch=64, sequence=2048, attention="unfused")
    narrow = search(fixed, [64], DEVICE, FatTree.model_validate(TREE.model_dump()), top=1).best[0]
    wide = search(opened(fixed, DEVICE), [64], DEVICE, TREE, top=1).best[0]
    assert wide.mfu >= narrow.mfu


@pytest.mark.slow
@given(st.lists(st.tuples(*[st.integers(1, 5)] * 3), max_size=60))
def test_front_of_small_numbers(rows: list[tuple[int, int, int]]) -> None:
    """Few distinct numbers, hence many ties."""
    costs = np.array(rows, np.float64).reshape(-1, 3).T
    assert pareto(costs).tolist() == undominated(costs)


@pytest.mark.slow
@given(st.integers(1, 4), st.integers(0, 200), st.integers(0, 2**32 - 1))
def test_front_of_random_numbers(dimensions: int, number: int, seed: int) -> None:
    costs = np.random.default_rng(seed).lognormal(size=(dimensions, number))
    assert pareto(costs).tolist() == undominated(costs)


def test_front_of_many_numbers() -> None:
    """So many that compromises of a sample drop most rows first; small numbers, hence ties with these too."""
    costs = np.random.default_rng(5).integers(1, 60, size=(3, 9000)).astype(np.float64)
    costs[:, 4500:] = costs[:, :4500]
    kept = undominated(np.unique(costs, axis=1))
    front = pareto(costs)
    assert np.unique(costs, axis=1)[:, kept].T.tolist() == sorted(costs[:, front].T.tolist())
    assert front.max() < 4500

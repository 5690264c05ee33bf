"""Serving jobs that are priced in one table have the candidates and prices that each has alone."""

from typing import Any

import pytest
from pydantic import TypeAdapter

from costmodel.fabrics import Fabric, FabricBase, Sipam
from costmodel.hardware.device import load_device
from costmodel.pricing.candidates import enumerate_candidates
from costmodel.pricing.limits import ANYWHERE, Limits
from costmodel.pricing.listed_together import MOST_OF_SPLITS, listed_together
from costmodel.pricing.phases import with_phases
from costmodel.pricing.score import score
from costmodel.workloads import TransformerInference, TransformerTraining
from tests.costmodel.pricing.phases_cases import FABRIC as POOL
from tests.costmodel.pricing.score_cases import FAT_TREE as FIELDS
from tests.costmodel.pricing.score_cases import fabric_of

H100 = load_device("h100-sxm")
FAT_TREE = fabric_of(FIELDS)
LIGHTPATH = fabric_of({
    "kind": "lightpath", "servers": 2, "tiles_per_server": 4, "wavelengths_per_tile": 8,
    "wavelength_bandwidth": "25 GB/s", "max_peers": 3, "fibers": 2, "wavelengths_per_fiber": 8, "alpha": "1 us",
    "reconfiguration": "4 us", "energy": "5 pJ/b",
})  # fmt: skip
CHAT = {"model": "llama-3.1-8b", "concurrency": 16, "input_tokens": 512, "output_tokens": 128}
LOADS: tuple[dict[str, Any], ...] = (
    {},
    {"concurrency": [1, 3, 64], "output_tokens": 1},
    {"input_tokens": 100_000, "output_tokens": 2048, "concurrency": 7},
    {"limits": {"ttft": "1 s"}, "output_tokens": 33},
)
SIZES = ((2, 4), (8,), (1, 2, 4, 8), (4,))
KINDS: tuple[dict[str, Any], ...] = (
    {},
    {"backend": "sglang", "lengths": "varied"},
    {"prefix_hit": 0.5, "speculation": {"tokens": 4, "acceptance": 0.8, "draft_model": "llama-3.2-1b"}},
    {"batching": "static", "pipeline": [1, 2]},
    {"requests_per_user": 5, "precision": "fp8"},
    {"model": "qwen3-30b-a3b"},
    {"model": "deepseek-v2", "precision": "fp8", "prefix_hit": 0.25},
)


def _check(jobs: list[TransformerInference], fabric: FabricBase, limits: Limits) -> int:
    found = list(listed_together(list(zip(jobs, SIZES, strict=True)), H100, fabric, limits))
    assert [number for number, *_ in found] == list(range(len(jobs)))
    for number, rows, scores in found:
        listed = enumerate_candidates(jobs[number], SIZES[number], H100, fabric, one_server=limits.one_server)
        alone, expected = (
            (listed, score(listed, H100, fabric)) if limits.one_setting else with_phases(listed, H100, fabric)
        )
        assert rows.workload is jobs[number]
        assert [*map(rows.configuration, range(len(rows)))] == [*map(alone.configuration, range(len(alone)))]
        for name, column in vars(expected).items():
            assert getattr(scores, name) == pytest.approx(column, rel=1e-12, abs=0, nan_ok=True), name
    return sum(len(rows) for _, rows, _ in found)


def _jobs(fields: dict[str, Any]) -> list[TransformerInference]:
    return [TransformerInference.model_validate(CHAT | fields | load) for load in LOADS]


@pytest.mark.slow
@pytest.mark.parametrize("fields", KINDS)
@pytest.mark.parametrize("limits", [ANYWHERE, Limits(one_server=True)])
@pytest.mark.parametrize("fabric", [FAT_TREE, LIGHTPATH])
def test_jobs_together_are_each_job_alone(fields: dict[str, Any], limits: Limits, fabric: FabricBase) -> None:
    assert _check(_jobs(fields), fabric, limits) > 0


def test_two_pools_together_are_each_job_alone() -> None:
    loads: list[dict[str, Any]] = [{}, {"concurrency": 64}, {"output_tokens": 640}, {"input_tokens": 4096}]
    jobs = [TransformerInference.model_validate(CHAT | {"disaggregated": True} | load) for load in loads]
    assert _check(jobs, LIGHTPATH, ANYWHERE) > 0


@pytest.mark.parametrize("limits", [ANYWHERE, Limits(one_setting=True), Limits(one_server=True)])
@pytest.mark.parametrize("fields", [{}, {"local_memory": True}, {"memory_grid": [2, 5]}])
def test_jobs_that_divide_their_io_are_each_job_alone(fields: dict[str, Any], limits: Limits) -> None:
    pool: Sipam = TypeAdapter(Fabric).validate_python(POOL | fields)
    jobs = _jobs({"model": "qwen3-8b"})
    units = {pool.loop_units(H100, job) for job in jobs}
    assert len(units) > 1, "jobs have splits of their own"
    assert _check(jobs, pool, limits) > 0


def test_tables_of_many_splits_end() -> None:
    pool: Sipam = TypeAdapter(Fabric).validate_python(POOL)
    chat = TransformerInference.model_validate(CHAT)
    most = MOST_OF_SPLITS // len(pool.splits(H100, chat))
    found = listed_together([(chat, (2,)), (chat, (1, 4)), (chat, (most,)), (chat, (8,))], H100, pool, ANYWHERE)
    assert [number for number, *_ in found] == [0, 1]


def test_what_differs_in_more_is_listed_alone() -> None:
    chat = TransformerInference.model_validate(CHAT)
    others: list[dict[str, Any]] = [{"precision": "fp8"}, {"chunk": 64}, {"model": "qwen3-8b"}, {"input_tokens": 1}]
    jobs = [chat, *(chat.model_copy(update=fields) for fields in others)]
    train = TransformerTraining(model="bert-large", global_batch=96, sequence=512)
    assert not list(listed_together([(job, (2,)) for job in (*jobs, train)], H100, FAT_TREE, ANYWHERE))

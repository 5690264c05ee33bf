"""Serving jobs that are priced in one table have the candidates and prices that each has alone."""

from typing import Any

import numpy as np
import pytest

from costmodel.fabrics import FabricBase
from costmodel.hardware.device import load_device
from costmodel.parallelism.mappings import CHOICES
from costmodel.pricing.candidates import enumerate_candidates
from costmodel.pricing.limits import ANYWHERE, Limits
from costmodel.pricing.listed_together import listed_together
from costmodel.pricing.score import score
from costmodel.workloads import TransformerInference, TransformerTraining
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
        alone = enumerate_candidates(jobs[number], SIZES[number], H100, fabric, one_server=limits.one_server)
        assert rows.workload is jobs[number]
        for name in CHOICES:
            assert np.array_equal(getattr(rows.mappings, name), getattr(alone.mappings, name)), name
        assert [*map(rows.configuration, range(len(rows)))] == [*map(alone.configuration, range(len(alone)))]
        for name, column in vars(score(alone, H100, fabric)).items():
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


def test_what_differs_in_more_is_listed_alone() -> None:
    chat = TransformerInference.model_validate(CHAT)
    others: list[dict[str, Any]] = [{"precision": "fp8"}, {"chunk": 64}, {"model": "qwen3-8b"}, {"input_tokens": 1}]
    jobs = [chat, *(chat.model_copy(update=fields) for fields in others)]
    train = TransformerTraining(model="bert-large", global_batch=96, sequence=512)
    assert not list(listed_together([(job, (2,)) for job in (*jobs, train)], H100, FAT_TREE, ANYWHERE))

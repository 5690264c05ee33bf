"""Candidates of serving that are priced in a second of one core."""

import time
from itertools import product

import pytest

from costmodel.fabrics import fat_tree_of
from costmodel.hardware.device import load_device
from costmodel.hardware.systems import load_system
from costmodel.pricing.candidates import enumerate_candidates
from costmodel.pricing.limits import ANYWHERE
from costmodel.pricing.listed_together import listed_together
from costmodel.pricing.score import score
from costmodel.workloads import TransformerInference
from planner.studies.random_instances import random_jobs

ASKED = 20_000
DEVICE, SYSTEM = load_device("h100-sxm"), load_system("dgx-h100")
Job = tuple[TransformerInference, tuple[int, ...]]
"""with the sizes on which it is listed"""


@pytest.mark.slow
def test_candidates_a_second() -> None:
    """A mixture of experts on each number of H100 up to 256, in continuous batching."""
    job = TransformerInference(model="qwen3-30b-a3b", concurrency=512, input_tokens=1024, output_tokens=512)
    fabric = fat_tree_of(SYSTEM, 512)
    rows = enumerate_candidates(job, range(1, 257), DEVICE, fabric)
    start_s = time.process_time()
    score(rows, DEVICE, fabric)
    assert len(rows) / (time.process_time() - start_s) > ASKED


def small_tables(*sizes: int, disaggregated: bool = False) -> list[Job]:
    """Twelve loads of each of three models on so many accelerators: some 20 rows each."""
    models = "llama-3.1-8b", "llama-3.1-70b", "qwen3-30b-a3b"
    loads = product(models, (16, 32, 64, 128), (512, 1024, 2048))
    return [
        (
            TransformerInference(
                model=model, precision="fp8", concurrency=users, input_tokens=tokens, output_tokens=512,
                disaggregated=disaggregated,
            ),
            sizes,
        )
        for model, users, tokens in loads
    ]  # fmt: skip


def random_tables() -> list[Job]:
    """The serving jobs of a random instance, those that ask for the same once, on all their sizes."""
    found = dict[str, tuple[TransformerInference, set[int]]]()
    for job in random_jobs(200, 1024, 1):
        if job["workload"]["kind"] == "transformer_inference":
            workload, asked = TransformerInference.model_validate(job["workload"]), job["accelerators"]
            every = range(asked["min"], asked["max"] + 1) if isinstance(asked, dict) else (asked,)
            found.setdefault(workload.model_dump_json(), (workload, set()))[1].update(every)
    return [(workload, tuple(sorted(sizes))) for workload, sizes in found.values()]


@pytest.mark.slow
@pytest.mark.parametrize(
    "jobs",
    [
        small_tables(4, 8),
        small_tables(4, 8, disaggregated=True),
        small_tables(4, disaggregated=True),
        random_tables(),
    ],
    ids=["small", "two pools", "two pools on one size", "random"],
)
def test_small_tables_a_second(jobs: list[Job]) -> None:
    """Tables of a few rows, listed and priced together as `planner solve` does it."""
    fabric = fat_tree_of(SYSTEM, 1024)
    list(listed_together(jobs[:2], DEVICE, fabric, ANYWHERE))
    start_s = time.process_time()
    found = list(listed_together(jobs, DEVICE, fabric, ANYWHERE))
    assert len(found) == len(jobs)
    assert sum(len(rows) for _, rows, _ in found) / (time.process_time() - start_s) > ASKED

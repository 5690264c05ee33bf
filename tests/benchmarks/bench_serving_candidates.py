"""Candidates of serving that are priced in a second of one core: python -m tests.benchmarks.bench_serving_candidates.

Tables of a few rows are listed and priced together, as `planner solve` does it; beside them stands what one table at a
time takes.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import NamedTuple

from costmodel.fabrics import fat_tree_of
from costmodel.hardware.device import load_device
from costmodel.hardware.systems import load_system
from costmodel.pricing.candidates import enumerate_candidates
from costmodel.pricing.limits import ANYWHERE
from costmodel.pricing.listed_together import listed_together
from costmodel.pricing.score import score
from costmodel.workloads import TransformerInference
from planner.studies.random_instances import random_jobs

DEVICE, SYSTEM = load_device("h100-sxm"), load_system("dgx-h100")
FABRIC = fat_tree_of(SYSTEM, 1024)
Job = tuple[TransformerInference, tuple[int, ...]]
"""with the sizes on which it is listed"""


class Rate(NamedTuple):
    """Rows of candidates and the CPU time that they took."""

    rows: int
    cpu_s: float

    @property
    def rows_per_s(self) -> float:
        return self.rows / self.cpu_s


def large_table() -> list[Job]:
    """A mixture of experts on each number of H100 up to 256, in continuous batching."""
    job = TransformerInference(model="qwen3-30b-a3b", concurrency=512, input_tokens=1024, output_tokens=512)
    return [(job, tuple(range(1, 257)))]


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


CASES: dict[str, Callable[[], list[Job]]] = {
    "one large table": large_table,
    "small tables": lambda: small_tables(4, 8),
    "two pools": lambda: small_tables(4, 8, disaggregated=True),
    "two pools on one size": lambda: small_tables(4, disaggregated=True),
    "a random instance": random_tables,
}


def together(jobs: Sequence[Job]) -> Rate:
    """All sizes of a job as one table, and all jobs at once where there are several."""
    if len(jobs) == 1:
        return _timed(lambda: [_priced(*jobs[0])])
    return _timed(lambda: (len(rows) for _, rows, _ in listed_together(jobs, DEVICE, FABRIC, ANYWHERE)))


def one_by_one(jobs: Sequence[Job]) -> Rate:
    """Each job and size as a table of its own."""
    return _timed(lambda: (_priced(job, (size,)) for job, sizes in jobs for size in sizes))


def _priced(job: TransformerInference, sizes: Sequence[int]) -> int:
    """Number of rows, all of them priced."""
    rows = enumerate_candidates(job, sizes, DEVICE, FABRIC)
    score(rows, DEVICE, FABRIC)
    return len(rows)


def _timed(priced: Callable[[], Iterable[int]]) -> Rate:
    start_s = time.process_time()
    rows = sum(priced())
    return Rate(rows, time.process_time() - start_s)


def main() -> None:
    together(small_tables(4))
    print(f"{'case':24}{'rows':>8}{'rows/s':>10}{'one by one, rows/s':>20}")
    for name, jobs in CASES.items():
        both, each = together(jobs()), one_by_one(jobs())
        print(f"{name:24}{both.rows:8,}{both.rows_per_s:10,.0f}{each.rows_per_s:20,.0f}")


if __name__ == "__main__":
    main()

"""Random pools of accelerators and memory units under more jobs than they hold, seeded."""

import random
from typing import Any

from planner.model.instance import Instance
from planner.studies.random_fabrics import POOL_ACCELERATORS, UNITS, Pools, pool_fabric
from planner.studies.random_instances import LENGTHS, datacenter

LOAD = (1.0, 2.0)
"""most accelerators that all jobs accept over those there are"""
SERVED = (
    ("llama-3.1-8b", (1, 2, 4)),
    ("qwen3-32b", (2, 4, 8)),
    ("llama-3.1-70b", (4, 8, 16)),
)
TRAINED = (
    ("bert-large", 512, (1, 2, 4, 8)),
    ("llama-3.1-8b", 2048, (4, 8, 16)),
    ("gpt3-22b", 2048, (8, 16, 32)),
    ("gpt3-175b", 2048, (32, 64)),
)


def random_pool(
    accelerators: int,
    num_jobs: int,
    seed: int,
    *,
    units: int = UNITS,
    utility: str = "sqrt",
    reading: Pools = "plain",
    zones: int = 1,
) -> Instance:
    """A pool of servers of 32 accelerators, `units` memory units for each of them, and jobs of 1 to 64."""
    rng = random.Random(seed)
    while True:
        drawn = [_workload(rng) for _ in range(num_jobs)]
        most = sum(sizes[-1] for _, sizes in drawn)
        if LOAD[0] * accelerators <= most <= LOAD[1] * accelerators:
            break
    jobs = [
        {
            "name": f"job{index:03d}",
            "workload": workload,
            "accelerators": [size for size in sizes if size <= accelerators],
            "weight": rng.choice([1, 1, 2, 3]),
            "utility": utility,
        }
        for index, (workload, sizes) in enumerate(drawn)
    ]
    fabric = pool_fabric(zones, accelerators // POOL_ACCELERATORS // zones, units, reading)
    return Instance.parse(datacenter(fabric, jobs, f"pool{accelerators}-{seed}"))


def _workload(rng: random.Random) -> tuple[dict[str, Any], tuple[int, ...]]:
    if rng.random() < 0.5:
        model, sizes = rng.choice(SERVED)
        lengths = rng.choice(LENGTHS)
        served = {
            "kind": "transformer_inference", "model": model, "precision": "bf16",
            "concurrency": rng.choice([16, 32, 64, 128]), "input_tokens": lengths[0], "output_tokens": lengths[1],
        }  # fmt: skip
        return served, sizes
    model, sequence, sizes = rng.choice(TRAINED)
    trained = {
        "kind": "transformer_training", "model": model, "global_batch": 192, "sequence": sequence,
        "micro_batch": [1, 2, 4],
    }  # fmt: skip
    return trained, sizes

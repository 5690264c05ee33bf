"""Random instances by seed: jobs of the sizes of the published trace, real models that fit, more than there is room."""

import random
from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any

from planner.model.errors import InputError
from planner.model.instance import default_sizes
from planner.model.schema_versions import NEWEST
from planner.studies.random_fabrics import MOST, random_fabric

TENANTS = ("search", "research", "ads", "speech", "vision")
LOAD = (1.1, 1.4)
"""preferred accelerators of all jobs over those that there are"""
MOST_DRAWS = 1000
LENGTHS = ((1024, 512), (4096, 512), (512, 1024))
"""tokens in and out of a request"""
LARGE = tuple(2**power for power in range(8, 13))
"""sizes beyond those of the trace, which jobs may have where a fabric joins so many accelerators"""
LARGE_SHARE = 1 / 1000
"""jobs of each of the large sizes, of those of the trace with more than one accelerator"""


def random_jobs(count: int, accelerators: int, seed: int, *, most: int = 128) -> list[dict[str, Any]]:
    """Jobs as files have them, of 2 to `most` accelerators each; together they prefer 1.1 to 1.4 times those there are.

    Sizes follow the published trace; their mean is met by giving larger or smaller sizes more weight. Half of the jobs
    accept from half to twice as many accelerators as they prefer. InputError where so many jobs cannot prefer as many.
    """
    rng = random.Random(seed)
    return jobs_of_sizes(_sizes(count, accelerators, rng, most), rng, most=most)


def jobs_of_sizes(sizes: Sequence[int], rng: random.Random, *, most: int) -> list[dict[str, Any]]:
    """Jobs as files have them, of the sizes that they prefer; every second one, from the first on, has a range."""
    return [
        {
            "name": f"job{index:0{len(str(len(sizes) - 1))}d}",
            "tenant": rng.choice(TENANTS),
            "workload": random_workload(rng, size),
            "accelerators": {"min": max(1, size // 2), "max": min(2 * size, most)} if index % 2 == 0 else size,
            "weight": rng.choice([1, 1, 2, 3, 5]),
        }
        for index, size in enumerate(sizes)
    ]


def random_workload(rng: random.Random, size: int) -> dict[str, Any]:
    """A real model that fits on so many accelerators of 80 GB."""
    lengths = rng.choice(LENGTHS)
    small = [_training("bert-large", 768, 512), _inference("llama-3.1-8b", "bf16", rng.choice([32, 64, 128]), lengths)]
    if size <= 4:
        options = small if size < 2 else [*small, _inference("qwen3-32b", "fp8", rng.choice([16, 32]), lengths)]
    elif size < 16:
        options = [
            _inference("llama-3.1-70b", "fp8", rng.choice([64, 128]), lengths),
            _inference("llama-3.1-70b", "bf16", rng.choice([32, 64]), lengths),
            _training("bert-large", 1536, 512),
        ]
    elif size < 128:
        options = [_training("gpt3-22b", 192, 2048), _training("llama-3.1-8b", 192, 4096)]
    else:
        options = [_training("gpt3-175b", 4 * size, 2048), _training("llama-3.1-70b", 4 * size, 4096)]
    return rng.choice(options)


def _inference(model: str, precision: str, concurrency: int, lengths: tuple[int, int]) -> dict[str, Any]:
    return {
        "kind": "transformer_inference", "model": model, "precision": precision, "concurrency": concurrency,
        "input_tokens": lengths[0], "output_tokens": lengths[1],
    }  # fmt: skip


def _training(model: str, global_batch: int, sequence: int) -> dict[str, Any]:
    return {
        "kind": "transformer_training", "model": model, "global_batch": global_batch, "sequence": sequence,
        "micro_batch": 1 if model != "bert-large" else 8,
    }  # fmt: skip


def _sizes(count: int, accelerators: int, rng: random.Random, most: int) -> list[int]:
    """Preferred sizes of all jobs, drawn until their sum is within the load."""
    trace = {size: number for size, number in default_sizes().items() if 1 < size <= most}
    large = LARGE_SHARE * sum(trace.values())
    weights = trace | {size: large for size in LARGE if size <= most}
    low, high = (load * accelerators for load in LOAD)
    middle = (low + high) / 2
    if min(weights) * count <= high and max(weights) * count >= low:
        tilted = _with_mean(weights, middle / count)
        for _ in range(MOST_DRAWS):
            drawn = rng.choices([*tilted], [*tilted.values()], k=count)
            if low <= sum(drawn) <= high:
                return drawn
    problem = f"{count} of 2 to {max(weights)} accelerators do not prefer {LOAD[0]} to {LOAD[1]} times {accelerators}"
    fewest = max(ceil(middle / max(weights)), count + 1 if count <= middle / 2 else 1)
    remedy = f"give {fewest} to {int(middle / 2)} jobs, or other sizes" if fewest <= middle / 2 else "give other sizes"
    raise InputError("random jobs", "jobs", f"{problem}; {remedy}")


def _with_mean(weights: Mapping[int, float], mean: float) -> dict[int, float]:
    """Weights times a power of the size, so that the mean size is `mean`, or as near as the sizes allow."""
    low, high = -8.0, 8.0
    for _ in range(60):
        power = (low + high) / 2
        tilted = {size: weight * size**power for size, weight in weights.items()}
        if _mean(tilted) < mean:
            low = power
        else:
            high = power
    return tilted


def _mean(weights: Mapping[int, float]) -> float:
    return sum(size * weight for size, weight in weights.items()) / sum(weights.values())


def random_datacenter(
    kind: str, accelerators: int, jobs: int, seed: int, *, most: int | None = None, device: str = "h100-sxm"
) -> dict[str, Any]:
    """An instance as files have it: a fabric of a kind under load; `most`: accelerators of the largest job.

    InputError where no such fabric has so many accelerators, or so many jobs do not load it.
    """
    fabric = random_fabric(kind, accelerators, seed, most=most)
    limit = min(MOST.get(kind, 128), max(2, accelerators // 2)) if most is None else most
    listed = random_jobs(jobs, accelerators, seed, most=limit)
    return datacenter(fabric, listed, f"{kind}-{accelerators}-{seed}", device)


def datacenter(
    fabric: Mapping[str, Any], jobs: Sequence[Mapping[str, Any]], name: str, device: str = "h100-sxm"
) -> dict[str, Any]:
    """An instance as files have it, whose only objective is the value."""
    return {
        "schema_version": NEWEST,
        "name": name,
        "cluster": {"device": device, "fabric": dict(fabric)},
        "objectives": ["value"],
        "jobs": [dict(job) for job in jobs],
    }

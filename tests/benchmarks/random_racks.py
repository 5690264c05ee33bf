"""Random racks with job sizes of the published trace and models that fit, seeded."""

import random
from typing import Any

from planner.model.instance import Instance, default_sizes

TENANTS = ("search", "research", "ads", "speech", "vision")
LOAD = (1.1, 1.4)
"""preferred accelerators of all jobs over those of the rack"""


def _inference(model: str, precision: str, concurrency: int, sizes: tuple[int, int]) -> dict[str, Any]:
    return {
        "kind": "transformer_inference", "model": model, "precision": precision, "concurrency": concurrency,
        "input_tokens": sizes[0], "output_tokens": sizes[1],
    }  # fmt: skip


def _training(model: str, global_batch: int, sequence: int) -> dict[str, Any]:
    return {
        "kind": "transformer_training", "model": model, "global_batch": global_batch, "sequence": sequence,
        "micro_batch": 1 if model != "bert-large" else 8,
    }  # fmt: skip


def workload(rng: random.Random, size: int) -> dict[str, Any]:
    """A real model that fits on the preferred number of accelerators."""
    lengths = rng.choice([(1024, 512), (4096, 512), (512, 1024)])
    small = [
        _training("bert-large", 768, 512),
        _inference("llama-3.1-8b", "bf16", rng.choice([32, 64, 128]), lengths),
    ]
    if size <= 4:
        options = small if size < 2 else [*small, _inference("qwen3-32b", "fp8", rng.choice([16, 32]), lengths)]
    elif size < 16:
        options = [
            _inference("llama-3.1-70b", "fp8", rng.choice([64, 128]), lengths),
            _inference("llama-3.1-70b", "bf16", rng.choice([32, 64]), lengths),
            _training("bert-large", 1536, 512),
        ]
    else:
        options = [_training("gpt3-22b", 192, 2048), _training("llama-3.1-8b", 192, 4096)]
    return rng.choice(options)


def _fibers(rng: random.Random, servers: int) -> int | list[dict[str, Any]]:
    """Fiber plants: the same number for each ordered pair, a ring of servers, or pairs joined at random."""
    plant = rng.choice([1, 2, "ring", "sparse", "sparse"])
    if isinstance(plant, int):
        return plant
    pairs = [(a, b) for a in range(servers) for b in range(a + 1, servers)]
    joined = [(a, b) for a, b in pairs if (b - a in (1, servers - 1) if plant == "ring" else rng.random() < 0.25)]
    return [{"from": f"s{x}", "to": f"s{y}", "count": 1} for a, b in joined for x, y in ((a, b), (b, a))]


def _failed_tiles(rng: random.Random, servers: int, tiles: int) -> list[str]:
    """One failed tile in most servers: jobs of a whole server then have to span."""
    return [f"s{s}.t{rng.randrange(tiles)}" for s in range(servers) if rng.random() < 0.9]


def random_rack(num_tiles: int, num_jobs: int, seed: int, *, servers: int = 8, fibers: int | None = None) -> Instance:
    """A lightpath rack of 8 servers under 1.1 to 1.4 times its accelerators, ranges for half the jobs.

    `fibers` overrides the random fiber plant by a number for each ordered pair.
    """
    rng = random.Random(seed)
    sizes = {size: count for size, count in default_sizes().items() if 1 < size <= min(64, num_tiles // 2)}
    while True:
        drawn = rng.choices([*sizes], [*sizes.values()], k=num_jobs)
        if LOAD[0] * num_tiles <= sum(drawn) <= LOAD[1] * num_tiles:
            break
    jobs = []
    for index, size in enumerate(drawn):
        in_range = index % 2 == 0
        jobs.append(
            {
                "name": f"job{index:02d}",
                "tenant": rng.choice(TENANTS),
                "workload": workload(rng, size),
                "accelerators": {"min": max(1, size // 2), "max": 2 * size} if in_range else size,
                "weight": rng.choice([1, 1, 2, 3, 5]),
            }
        )
    tiles = num_tiles // servers
    fabric = {
        "kind": "lightpath", "servers": servers, "tiles_per_server": tiles, "tile_rows": 2 if tiles <= 8 else 4,
        "wavelengths_per_tile": 16, "wavelength_bandwidth": "18.75 GB/s", "max_peers": rng.choice([3, 4, 8]),
        "fibers": _fibers(rng, servers) if fibers is None else fibers, "wavelengths_per_fiber": rng.choice([8, 16]),
        "alpha": "0.7 us", "reconfiguration": "3.7 us", "energy": "5 pJ/b",
    }  # fmt: skip
    data = {
        "schema_version": 1, "name": f"rack{num_tiles}-{seed}",
        "cluster": {
            "device": "h100-sxm", "fabric": fabric,
            "health": {"failed_tiles": _failed_tiles(rng, servers, tiles)},
        },
        "jobs": jobs,
    }  # fmt: skip
    return Instance.parse(data)

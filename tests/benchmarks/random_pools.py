"""Random pools of accelerators and memory units under more jobs than they hold, seeded."""

import random
from typing import Any, Literal

from planner.model.instance import Instance

Reading = Literal["plain", "normalized"]
"""plain: 12 I/Os of 2 TB/s; normalized: all I/Os of an accelerator carry 4 TB/s, as memory and links of an H100 do in
paper 001, over 6 I/Os, since no unit may be faster than an I/O"""
ACCELERATORS = 32
"""of a server"""
TRAYS = 4
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
    units: int = 6,
    utility: str = "sqrt",
    reading: Reading = "plain",
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
    servers = accelerators // ACCELERATORS // zones
    data = {
        "schema_version": 1,
        "name": f"pool{accelerators}-{seed}",
        "cluster": {"device": "h100-sxm", "fabric": _fabric(zones, servers, units, reading)},
        "objectives": ["value"],
        "jobs": jobs,
    }
    return Instance.parse(data)


def _workload(rng: random.Random) -> tuple[dict[str, Any], tuple[int, ...]]:
    if rng.random() < 0.5:
        model, sizes = rng.choice(SERVED)
        lengths = rng.choice([(1024, 512), (4096, 512), (512, 1024)])
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


def _fabric(zones: int, servers: int, units: int, reading: Reading) -> dict[str, Any]:
    """Ports of trays suffice for every accelerator on every local rail."""
    plain = reading == "plain"
    width, rate = (8, "2 TB/s") if plain else (16, "0.6666666667 TB/s")
    io = {"name": f"io-{reading}", "width_mm": width, "bandwidth": rate, "source": f"paper 001, {reading} reading"}
    return {
        "kind": "sipam",
        "racks": zones,
        "servers": servers,
        "accelerators_per_server": ACCELERATORS,
        "shoreline": {"name": "edge", "perimeter_mm": 96, "io": io, "source": "paper 001, section 4"},
        "memory_unit": "memory-unit",
        "trays_per_server": TRAYS,
        "units_per_tray": ACCELERATORS * units // TRAYS,
        "tray_ports": ACCELERATORS // TRAYS,
        "spine_rails": 4 if plain else 0,
        "uplinks": 8 if plain else 0,
        "switch_ports": max(2 * ACCELERATORS, 8 * servers),
        "alpha": "0.7 us",
        "reconfiguration": "25 us",
        "energy": "2 pJ/b",
    }

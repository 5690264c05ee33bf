"""Random racks with job sizes of the published trace and models that fit, seeded."""

import random
from typing import Any

from planner.model.instance import Instance, default_sizes
from planner.studies.random_instances import LOAD, jobs_of_sizes


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
    jobs = jobs_of_sizes(drawn, rng, most=num_tiles)
    tiles = num_tiles // servers
    fabric = {
        "kind": "lightpath", "servers": servers, "tiles_per_server": tiles, "tile_rows": 2 if tiles <= 8 else 4,
        "wavelengths_per_tile": 16, "wavelength_bandwidth": "18.75 GB/s", "max_peers": rng.choice([3, 4, 8]),
        "fibers": _fibers(rng, servers) if fibers is None else fibers, "wavelengths_per_fiber": rng.choice([8, 16]),
        "alpha": "0.7 us", "reconfiguration": "3.7 us", "energy": "5 pJ/b",
    }  # fmt: skip
    data = {
        "schema_version": 2, "name": f"rack{num_tiles}-{seed}",
        "cluster": {
            "device": "h100-sxm", "fabric": fabric,
            "health": {"failed_tiles": _failed_tiles(rng, servers, tiles)},
        },
        "jobs": jobs,
    }  # fmt: skip
    return Instance.parse(data)

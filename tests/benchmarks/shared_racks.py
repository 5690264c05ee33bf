"""Random racks of 256 tiles whose tenants share waveguides and fibers, seeded."""

import random

from planner.model.instance import Instance, default_sizes
from planner.studies.random_instances import LOAD, jobs_of_sizes

NUM_TILES = 256
SERVERS = (8, 16, 32)
FIBERS = (2, 3, 4, 6, 8)
"""for each ordered pair of servers"""
PEERS = (4, 8, 16)
ROWS = (1, 2, 4)
FAILED_SHARE = 0.25
"""of the servers that have a failed tile, in every second rack"""


def shared_rack(num_jobs: int, seed: int) -> Instance:
    """A lightpath rack of 256 tiles with shared waveguides, asked for 1.1 to 1.4 times; ranges for half the jobs.

    Many jobs have the sizes of the published trace; a few that fill the rack have all of its sizes alike.
    """
    rng = random.Random(f"{num_jobs}/{seed}")
    servers = rng.choice(SERVERS)
    tiles = NUM_TILES // servers
    fabric = {
        "kind": "lightpath", "servers": servers, "tiles_per_server": tiles,
        "tile_rows": rng.choice([rows for rows in ROWS if rows**2 <= tiles]), "waveguides": "shared",
        "wavelengths_per_tile": 16, "wavelength_bandwidth": "18.75 GB/s", "max_peers": rng.choice(PEERS),
        "fibers": rng.choice(FIBERS), "wavelengths_per_fiber": 16,
        "alpha": "0.7 us", "reconfiguration": "3.7 us", "energy": "5 pJ/b",
    }  # fmt: skip
    has_failures = rng.random() < 0.5
    failed = [f"s{s}.t{rng.randrange(tiles)}" for s in range(servers) if has_failures and rng.random() < FAILED_SHARE]
    jobs = jobs_of_sizes(_sizes(rng, num_jobs), rng, most=NUM_TILES)
    return Instance.parse(
        {
            "schema_version": 2,
            "name": f"shared{num_jobs}-{seed}",
            "cluster": {"device": "h100-sxm", "fabric": fabric, "health": {"failed_tiles": failed}},
            "jobs": jobs,
        }
    )


def _sizes(rng: random.Random, num_jobs: int) -> list[int]:
    """Preferred accelerators of each job, drawn until they load the rack as they should."""
    frequency = {size: count for size, count in default_sizes().items() if 1 < size <= 64}
    few = num_jobs * sum(s * n for s, n in frequency.items()) < LOAD[0] * NUM_TILES / 2 * sum(frequency.values())
    weights = [1.0] * len(frequency) if few else [*frequency.values()]
    while True:
        drawn = rng.choices([*frequency], weights, k=num_jobs)
        if LOAD[0] * NUM_TILES <= sum(drawn) <= LOAD[1] * NUM_TILES:
            return drawn

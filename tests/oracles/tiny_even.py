"""Random tiny instances in which most jobs ask for as many devices of each of their servers."""

from random import Random

from hypothesis import strategies as st

from planner.model.instance import Instance
from tests.oracles.tiny_instances import Fields, drawn, fat_tree, lightpath, some_failures


def tiny_even(seed: int) -> Instance:
    """The instance of a seed, valid at any seed."""
    rng = Random(f"even-{seed}")
    servers, each = rng.choice(((2, 2), (2, 3), (2, 3), (3, 2), (3, 2), (4, 1)))
    fabric = fat_tree(rng) if rng.random() < 0.2 else lightpath(rng)
    size = "gpus_per_server" if fabric["kind"] == "fat_tree" else "tiles_per_server"
    fabric |= {"racks": 1, "servers": servers, size: each}
    if fabric["kind"] == "lightpath":
        fabric |= {"tile_rows": rng.choice((1, each)), "fibers": rng.choice((1, 1, 2))}
    return drawn(rng, f"even-{seed}", fabric, some_failures, _ask_each_server)


def _ask_each_server(rng: Random, jobs: list[Fields], per_server: int, largest: int) -> None:
    for job in jobs:
        if rng.random() < 0.8:
            each = rng.randint(1, per_server)
            job["constraints"] = job.get("constraints", {}) | {"per_server": each}
            if rng.random() < 0.8:
                sizes = [size for size in (each, 2 * each, 2 * each, 3 * each) if size <= largest]
                job["accelerators"] = rng.choice((rng.choice(sizes), sorted(set(sizes))))


tiny_evens = st.integers(min_value=0, max_value=2**32 - 1).map(tiny_even)

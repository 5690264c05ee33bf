"""Random tiny instances in which most jobs serve from two pools."""

from random import Random

from hypothesis import strategies as st

from planner.model.instance import Instance
from tests.oracles.tiny_instances import SMALL, Fields, drawn, fat_tree, lightpath, some_failures


def tiny_disaggregated(seed: int) -> Instance:
    """The instance of a seed, valid at any seed."""
    rng = Random(f"pools-{seed}")
    servers, each = rng.choice(((2, 2), (2, 2), (2, 3), (3, 2)))
    fabric = fat_tree(rng) if rng.random() < 0.2 else lightpath(rng)
    size = "gpus_per_server" if fabric["kind"] == "fat_tree" else "tiles_per_server"
    fabric |= {"racks": 1, "servers": servers, size: each}
    if fabric["kind"] == "lightpath":
        fabric |= {"tile_rows": rng.choice((1, each)), "fibers": rng.choice((1, 1, 2)), "max_peers": rng.randint(1, 4)}
    return drawn(rng, f"pools-{seed}", fabric, some_failures, _serve_from_pools)


def _serve_from_pools(rng: Random, jobs: list[Fields], per_server: int, largest: int) -> None:
    for job in jobs:
        if largest >= 2 and rng.random() < 0.75:
            job["workload"] = {
                "kind": "transformer_inference", "model": SMALL, "concurrency": rng.choice((2, 8, 64)),
                "input_tokens": rng.choice((64, 4096)), "output_tokens": rng.choice((2, 50)), "disaggregated": True,
            }  # fmt: skip
            if rng.random() < 0.3:
                job["workload"]["prefill_accelerators"] = rng.choice((1, 2, [1, 2, 4]))
            job["accelerators"] = sorted({rng.randint(2, largest), rng.randint(2, largest)})
            job.pop("constraints", None)


tiny_disaggregateds = st.integers(min_value=0, max_value=2**32 - 1).map(tiny_disaggregated)

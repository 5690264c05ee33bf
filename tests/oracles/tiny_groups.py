"""Random tiny instances in which some jobs divide sequences and experts over light."""

from random import Random

from hypothesis import strategies as st

from planner.model.instance import Instance
from tests.oracles.tiny_instances import SMALL, Fields, drawn, lightpath, some_failures

EXPERTS = SMALL | {"layers": 2, "experts": 4, "experts_per_token": 2}


def tiny_groups(seed: int, collectives: str = "families") -> Instance:
    """The instance of a seed, valid at any seed."""
    rng = Random(f"groups-{seed}")
    servers, tiles = rng.choice(((2, 2), (2, 2), (2, 3), (4, 1)))
    fabric = lightpath(rng) | {
        "racks": 1,
        "servers": servers,
        "tiles_per_server": tiles,
        "tile_rows": rng.choice((1, tiles)),
        "max_peers": rng.choice((1, 2, 3)),
        "fibers": rng.choice((1, 1, 2, 3)),
        "collectives": collectives,
    }
    return drawn(rng, f"groups-{seed}", fabric, some_failures, _divide)


def _divide(rng: Random, jobs: list[Fields], per_server: int, largest: int) -> None:
    for number, job in enumerate(jobs):
        if number == 0 or rng.random() < 0.5:
            serves = rng.random() < 0.3
            job["workload"] = {"model": EXPERTS, "expert": rng.choice((2, 4, [1, 2, 4]))} | (
                {"kind": "transformer_inference", "concurrency": 8, "input_tokens": 32, "output_tokens": 32}
                if serves
                else {
                    "kind": "transformer_training", "global_batch": 8, "sequence": 64, "micro_batch": 1,
                    "context": rng.choice((1, 1, 2, [1, 2, 4])), "zero": 1, "recompute": "none",
                }
            )  # fmt: skip
            job["accelerators"] = rng.choice((2, 4, [2, 4]))


tiny_groupings = st.integers(min_value=0, max_value=2**32 - 1).map(tiny_groups)

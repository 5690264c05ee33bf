"""Random tiny instances on fabrics that link racks, in which most jobs ask for numbers of servers of each rack."""

from random import Random
from typing import Any

from planner.model.instance import Instance
from tests.oracles.tiny_instances import Fields, drawn, fat_tree, some_failures
from tests.planner.checks.plans import TRAINING
from tests.planner.fabrics.ocs_rail.rule_rails_cases import RAILS

RACKS = ((2, 2, 1), (3, 1, 2), (3, 1, 1), (2, 2, 1), (2, 1, 3))
"""racks, servers of each, devices of these"""


def tiny_by_rack(seed: int) -> Instance:
    """A fat tree of two or three racks, valid at any seed."""
    rng = Random(f"by-rack-{seed}")
    racks, servers, each = rng.choice(RACKS)
    fabric = fat_tree(rng) | {"racks": racks, "servers": servers, "gpus_per_server": each}

    def ask(rng: Random, jobs: list[Fields], per_server: int, largest: int) -> None:
        for job in jobs:
            _ask(rng, job, (racks, servers, per_server))

    return drawn(rng, f"by-rack-{seed}", fabric, some_failures, ask)


def tiny_rails_by_rack(seed: int) -> Instance:
    """Rails through two or three racks, parts of which are down."""
    rng = Random(f"rails-by-rack-{seed}")
    racks, servers, slots = rng.choice(((2, 2, 2), (2, 2, 2), (3, 1, 2), (2, 2, 1)))
    fabric = RAILS | {"racks": racks, "servers": servers, "gpus_per_server": slots, "switches": rng.choice((1, 2))}
    jobs: list[Fields] = [
        {"name": f"job{j}", "workload": TRAINING, "accelerators": 2, "weight": rng.choice((1.0, 2.0, 3.0))}
        for j in range(3)
    ]
    for job in jobs:
        _ask(rng, job, (racks, servers, slots))
    device = f"r{rng.randrange(racks)}.s{rng.randrange(servers)}.g0"
    health = rng.choice(({}, {"failed_tiles": [device]}, {"failed_ports": [device]}, {"failed_switches": ["q0#0"]}))
    cluster = {"device": "h100-sxm", "fabric": fabric, "health": health}
    return Instance.parse(
        {"schema_version": 2, "name": f"rails-{seed}", "cluster": cluster, "jobs": jobs, "objectives": ["value"]}
    )


def _ask(rng: Random, job: Fields, sizes: tuple[int, int, int]) -> None:
    """Numbers that add up to a size of the job, mostly, or bounds of each rack."""
    racks, servers, slots = sizes
    each, asked = rng.randint(1, slots), dict[str, Any]()
    counts = [rng.randint(1, servers) for _ in range(rng.randint(1, racks))]
    accepted = {sum(counts)} | {rng.randint(1, racks * servers) for _ in range(rng.choice((0, 0, 2)))}
    if rng.random() < 0.85:
        bounds = {"min": rng.randint(1, servers), "max": servers}
        asked["servers_by_rack"] = rng.choice((counts, counts, bounds))
    job["constraints"] = {"per_server": each, **asked}
    job["accelerators"] = sorted(each * number for number in accepted)

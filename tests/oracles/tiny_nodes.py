"""Random servers whose devices share memory nodes, small enough to be enumerated, and their exact optimum.

The enumeration is written from the rules: of all listed rows of a job only ranks, block and DIMMs of each rank matter
for where it lies. Combinations are tried from the most valuable down, each on every set of slots.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from random import Random
from typing import Any

import numpy as np

from costmodel.fabrics import MemoryNodeRings
from costmodel.pricing.candidates import enumerate_candidates
from costmodel.pricing.score import score
from planner.model.instance import Instance
from planner.model.job import Job
from tests.oracles.tiny_pools import SMALL

Fields = dict[str, Any]
Mode = tuple[int, int, int]
"""ranks, block, and DIMMs of each rank on either side"""
Slot = tuple[int, int]
"""(server, slot)"""
MOST_COMBINATIONS = 100_000


def tiny_nodes(seed: int, *, objectives: list[str] | None = None, fails_nodes: bool = False) -> Instance:
    """The instance of a seed: 1 or 2 servers of 2 to 4 devices with nodes of 2 to 5 DIMMs, in half of them with failed
    devices; `fails_nodes`: with one or two failed nodes."""
    rng = Random(seed)
    servers, each, dimms = rng.choice((1, 2, 2)), rng.choice((2, 3, 4)), rng.choice((2, 3, 4, 5))
    dimm = {"capacity": rng.choice((0.2e9, 0.5e9, 1e9)), "bandwidth": rng.choice((2e9, 10e9, 40e9)), "power": "10 W"}
    fabric = {
        "kind": "memory_ring", "servers": servers, "shared_nodes": True,
        "node": {
            "devices": each, "links": 4, "link_bandwidth": "25 GB/s", "alpha": "1 us", "arrangement": "ring",
            "node": {"dimm": dimm, "dimms": dimms},
        },
        "link_energy": "10 pJ/b", "memory_latency": "1 us", "memory_energy": "20 pJ/b",
        "network_bandwidth": "20 GB/s", "network_alpha": "5 us", "network_energy": "20 pJ/b",
    }  # fmt: skip
    device = {
        "name": "small", "capacity": rng.choice((0.4e9, 0.8e9, 1.5e9)), "memory_bandwidth": "3 TB/s",
        "flops": {"bf16": rng.choice((50e12, 500e12))},
    }  # fmt: skip
    names = [f"s{s}.d{d}" for s in range(servers) for d in range(each)]
    health = {key: [name for name in names if rng.random() < 0.1] for key in ("failed_tiles", "failed_ports")}
    nodes = [f"s{s}.n{d}" for s in range(servers) for d in range(each)]
    failed_nodes = {"failed_memory_nodes": Random(f"nodes {seed}").sample(nodes, servers)} if fails_nodes else {}
    data: Fields = {
        "schema_version": 2,
        "name": f"tiny-nodes-{seed}",
        "cluster": {
            "device": device,
            "fabric": fabric,
            "health": (health if rng.random() < 0.5 else {}) | failed_nodes,
        },
        "jobs": [_job(rng, f"j{number}", servers * each) for number in range(rng.choice((2, 3, 4)))],
    }
    return Instance.parse(data | ({"objectives": objectives} if objectives else {}), data["name"])


def _job(rng: Random, name: str, most: int) -> Fields:
    workload = {
        "kind": "transformer_training", "model": rng.choice((SMALL, SMALL, "bert-large")),
        "global_batch": rng.choice((4, 12)), "sequence": rng.choice((128, 512)), "micro_batch": rng.choice((1, 2)),
        "offload": rng.sample(("none", "optimizer", "activations+optimizer", "weights+optimizer"), 2),
    }  # fmt: skip
    return {
        "name": name,
        "workload": workload,
        "accelerators": rng.sample(range(1, min(most, 4) + 1), 2),
        "weight": rng.choice((0.5, 1, 1, 3)),
        "required": rng.random() < 0.1,
        "utility": rng.choice(("sqrt", "linear", "linear")),
    }


def best_value(instance: Instance) -> float | None:
    """Largest total value; None where required jobs cannot run together. ValueError where there is too much to try."""
    return best_of(instance, [_choices(instance, job) for job in instance.jobs])


def best_of(instance: Instance, choices: Sequence[Sequence[tuple[float, Mode | None]]]) -> float | None:
    """The same where each job has these choices: what it is worth, and what it then asks for."""
    fabric = instance.cluster.fabric
    assert isinstance(fabric, MemoryNodeRings)
    assert fabric.node.node is not None
    if np.prod([len(each) for each in choices], dtype=float) > MOST_COMBINATIONS:
        raise ValueError(f"more than {MOST_COMBINATIONS} combinations")
    health = instance.cluster.health
    every = {(s, d) for s in range(fabric.servers) for d in range(fabric.node.devices)}
    works = {place for place in every if f"s{place[0]}.d{place[1]}" not in health.failed_tiles}
    lit = {place for place in works if f"s{place[0]}.d{place[1]}" not in health.failed_ports}
    dimms = {(s, d): 0 if f"s{s}.n{d}" in health.failed_memory_nodes else fabric.node.node.dimms for s, d in every}
    for combination in sorted(product(*choices), key=lambda each: -sum(value for value, _ in each)):
        modes = [mode for _, mode in combination if mode is not None]
        if sum(mode[0] for mode in modes) <= len(works) and _runs(works, lit, dimms, fabric.node.devices, modes):
            return sum(value for value, _ in combination)
    return None


def _choices(instance: Instance, job: Job) -> list[tuple[float, Mode | None]]:
    cluster = instance.cluster
    sizes = [size for size in job.sizes if size <= cluster.fabric.num_devices]
    rows = enumerate_candidates(job.workload, sizes, cluster.device, cluster.fabric)
    best: dict[Mode | None, float] = {} if job.required else {None: 0.0}
    if len(rows):
        speed = score(rows, cluster.device, cluster.fabric).speed
        share = speed / speed.max()
        gain = {"sqrt": np.sqrt(share), "linear": share}[job.utility]
        for row in range(len(rows)):
            split = rows.splits[rows.split[row]]
            mode = int(rows.num_devices[row]), int(rows.block[row]), (split.memory_units or 0) // 2
            best[mode] = max(best.get(mode, 0.0), float(job.weight * gain[row]))
    return [(value, mode) for mode, value in best.items()]


def _runs(works: set[Slot], lit: set[Slot], dimms: dict[Slot, int], around: int, modes: list[Mode]) -> bool:
    """Whether these jobs fit on what is free, one after the other on every set of slots."""
    if not modes:
        return True
    ranks, block, each = modes[0]
    for chosen in combinations(sorted(lit if ranks > 1 else works), ranks):
        if any(sum(s == server for s, _ in chosen) % block for server in {s for s, _ in chosen}):
            continue
        left = dict(dimms)
        for node in _beside(chosen, around):
            left[node] -= each
        if min(left.values()) >= 0 and _runs(works - {*chosen}, lit - {*chosen}, left, around, modes[1:]):
            return True
    return False


def _beside(chosen: tuple[Slot, ...], around: int) -> Iterator[Slot]:
    """Nodes on either side of each slot, as often as they are beside one."""
    for server, slot in chosen:
        yield server, slot
        yield server, (slot + around - 1) % around

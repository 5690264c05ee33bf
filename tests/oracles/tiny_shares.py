"""Random servers whose accelerators divide optical ports, small enough to be enumerated, and their exact optimum.

The enumeration is written from the rules: of all listed rows of a job only ranks, block, modules, ports and units of a
second tier matter for where it lies. Combinations are tried from the most valuable down, each in every placement.
"""

from collections.abc import Iterator
from itertools import product
from random import Random
from typing import Any

import numpy as np

from costmodel.fabrics import DividedPorts
from costmodel.hardware.optical_hbm import load_optical_hbm
from costmodel.pricing.candidates import enumerate_candidates
from costmodel.pricing.score import score
from planner.model.instance import Instance
from planner.model.job import Job
from tests.oracles.tiny_pools import SMALL

Fields = dict[str, Any]
Mode = tuple[int, int, tuple[int, int, int], int | None]
"""ranks, block, modules, ports and second-tier units of each rank, and ranks on each of its servers where the job asks
for that"""
MOST_COMBINATIONS = 300_000
OFFLOADS = {
    "transformer_training": ("optimizer", "weights+activations+optimizer"),
    "transformer_inference": ("weights 50 %", "weights+cache"),
    "dlrm": ("tables 50 %", "tables"),
}  # fmt: skip
TABLES = {
    "dense_features": 4, "bottom": [16], "tables": [{"rows": 10**9, "pooling": 8, "count": 3}], "dimension": 16,
    "top": [32, 1], "gather_efficiency": 0.5,
}  # fmt: skip
LARGER: dict[str, Fields] = {
    "transformer_inference": {"model": "llama-3.1-8b"},
    "dlrm": {"model": TABLES | {"tables": [{"rows": 10**8, "pooling": 8, "count": 3}]}},
}
"""jobs of the size of small memories with a second tier behind them"""


def tiny_shares(seed: int, *, objectives: list[str] | None = None, has_tier: bool = False) -> Instance:
    """The instance of a seed: 1 to 3 servers of 2 to 4 accelerators, in half of them with failed ones. `has_tier`: with
    less memory and a second tier behind it."""
    rng = Random(seed)
    servers, each = rng.choice((1, 2, 2, 3)), rng.choice((2, 3, 4))
    fabric = {
        "kind": "divided_ports", "servers": servers, "gpus_per_server": each,
        "nvlink_bandwidth": "450 GB/s", "nvlink_alpha": "2 us", "nvlink_energy": "2 pJ/b",
        "network_bandwidth": "50 GB/s", "network_alpha": "8 us", "network_energy": "20 pJ/b",
        "memory": _tiered(rng) if has_tier else _memory(rng), "port_energy": "5 pJ/b",
    }  # fmt: skip
    names = [f"s{s}.g{g}" for s in range(servers) for g in range(each)]
    health = {key: [name for name in names if rng.random() < 0.1] for key in ("failed_tiles", "failed_ports")}
    data: Fields = {
        "schema_version": 2,
        "name": f"tiny-shares-{seed}",
        "cluster": {"device": "h100-sxm", "fabric": fabric, "health": health if rng.random() < 0.5 else {}},
        "jobs": [_job(rng, f"j{number}", servers * each) for number in range(rng.choice((1, 2, 3)))],
    }
    for job in data["jobs"] if has_tier else ():
        kind = job["workload"]["kind"]
        job["workload"] |= {"offload": ["none", *OFFLOADS[kind]]} | LARGER.get(kind, {})
    return Instance.parse(data | ({"objectives": objectives} if objectives else {}), data["name"])


def _memory(rng: Random) -> Fields:
    if rng.random() < 0.2:
        return {"kind": "optical_modules", "part": "optical-hbm-a100"}
    part = {
        "kind": "memory_appliance", "name": "small", "modules": rng.choice((2, 3, 5)), "stacks_per_module": 1,
        "stack": "hbm3e-stack", "ddr": _ddr(rng.choice((20, 60, 200))), "port_rate": "7.2 Tb/s",
        "ports_per_module": rng.choice((1, 2)), "source": "test",
    }  # fmt: skip
    ports = part["modules"] * part["ports_per_module"]
    return {
        "kind": "appliances", "part": part, "per_server": rng.choice((1, 2)), "ports": rng.randint(1, min(3, ports)),
        "hit": rng.choice((0.5, 0.9, 1.0)),
    }  # fmt: skip


def _tiered(rng: Random) -> Fields:
    """Modules of few GB, and units of more behind them, which some jobs need and others do without."""
    memory, behind = (
        _memory(rng),
        {"unit": _ddr(rng.choice((8, 40)), rng.choice((30, 120))), "units": rng.randint(1, 4)},
    )
    if memory["kind"] == "appliances":
        memory["part"] |= {"ddr": _ddr(rng.choice((3, 8)))}
    else:
        part = load_optical_hbm(memory["part"])
        stack = part.stack.model_copy(update={"capacity_bytes": rng.choice((0.5e9, 1e9))})
        memory["part"] = part.model_copy(update={"stack": stack}).model_dump(mode="json", by_alias=True)
    return memory | {"second_tier": behind}


def _ddr(capacity: int, rate: int = 360) -> Fields:
    return {
        "kind": "memory_tier", "name": "ddr", "capacity": f"{capacity} GB", "bandwidth": f"{rate} GB/s",
        "latency": "120 ns", "energy": "15 pJ/b", "source": "test",
    }  # fmt: skip


def _job(rng: Random, name: str, most: int) -> Fields:
    workloads: tuple[Fields, ...] = (
        {"kind": "transformer_training", "model": SMALL, "global_batch": 12, "sequence": 128, "micro_batch": 1},
        {
            "kind": "transformer_inference", "model": rng.choice((SMALL, "llama-3.1-8b")),
            "concurrency": rng.choice((2, 12)), "input_tokens": 64, "output_tokens": rng.choice((16, 200)),
        },
        {"kind": "dlrm", "mode": rng.choice(("training", "inference")), "model": TABLES, "batch": 4096},
    )  # fmt: skip
    return {
        "name": name,
        "workload": rng.choice(workloads),
        "accelerators": rng.sample(range(1, most + 1), min(most, rng.choice((1, 2)))),
        "weight": rng.choice((0.5, 1, 1, 3)),
        "required": rng.random() < 0.1,
        "utility": rng.choice(("sqrt", "linear", "step")),
        "step_at": rng.choice((0.3, 0.8)),
    }


def best_value(instance: Instance) -> float | None:
    """Largest total value; None where required jobs cannot run together. ValueError where there is too much to try."""
    fabric = instance.cluster.fabric
    assert isinstance(fabric, DividedPorts)
    choices = [_choices(instance, job) for job in instance.jobs]
    if np.prod([len(each) for each in choices], dtype=float) > MOST_COMBINATIONS:
        raise ValueError(f"more than {MOST_COMBINATIONS} combinations")
    down = {*instance.cluster.health.failed_tiles, *instance.cluster.health.failed_ports}
    free = [sum(f"s{s}.g{g}" not in down for g in range(fabric.gpus_per_server)) for s in range(fabric.servers)]
    limits = None
    if fabric.memory.kind == "appliances":
        part = fabric.memory.part
        modules = fabric.memory.per_server * part.modules
        tier = fabric.memory.second_tier
        limits = modules, modules * part.ports_per_module, fabric.memory.per_server * tier.units if tier else 0
    for combination in sorted(product(*choices), key=lambda each: -sum(value for value, _ in each)):
        if _runs(free, limits, [mode for _, mode in combination if mode is not None]):
            return sum(value for value, _ in combination)
    return None


def _choices(instance: Instance, job: Job) -> list[tuple[float, Mode | None]]:
    cluster = instance.cluster
    sizes = [size for size in job.sizes if size <= cluster.fabric.num_devices]
    even = job.constraints.per_server
    rows = enumerate_candidates(job.workload, sizes, cluster.device, cluster.fabric, per_server=even)
    best: dict[Mode | None, float] = {} if job.required else {None: 0.0}
    if len(rows):
        speed = score(rows, cluster.device, cluster.fabric).speed
        share = speed / speed.max()
        gain = {"sqrt": np.sqrt(share), "linear": share, "step": (share >= job.step_at) * 1.0}[job.utility]
        for row in range(len(rows)):
            split = rows.splits[rows.split[row]]
            io = split.memory_units or 0, split.memory_io or 0, split.tier_units or 0
            mode = int(rows.num_devices[row]), int(rows.block[row]), io, even
            best[mode] = max(best.get(mode, 0.0), float(job.weight * gain[row]))
    return [(value, mode) for mode, value in best.items()]


Placed = tuple[tuple[int, int, int], tuple[int, ...]]
"""modules, ports and units of each rank, and ranks on each server"""


def _runs(
    free: list[int], limits: tuple[int, int, int] | None, modes: list[Mode], placed: tuple[Placed, ...] = ()
) -> bool:
    """Whether these jobs fit beside those placed, one after the other in every placement of its blocks."""
    for server, number in enumerate(free):
        if sum(on[server] for _, on in placed) > number:
            return False
        held = [sum(each[what] * on[server] for each, on in placed) for what in range(3)]
        if limits is not None and any(amount > most for amount, most in zip(held, limits, strict=True)):
            return False
    if not modes:
        return True
    size, block, each, even = modes[0]
    return any(_runs(free, limits, modes[1:], (*placed, (each, on))) for on in _spread(free, size, block, even))


def _spread(free: list[int], ranks: int, block: int, even: int | None) -> Iterator[tuple[int, ...]]:
    """Ranks on each server."""
    for blocks in product(*(range(number // block + 1) for number in free)):
        if sum(blocks) * block == ranks and (even is None or {count * block for count in blocks} <= {0, even}):
            yield tuple(count * block for count in blocks)

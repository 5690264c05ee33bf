"""Small clusters of cubes and boxes, and jobs for them."""

from random import Random
from typing import Any

from planner.model.instance import Instance
from planner.model.result import SolveOptions

SHAPE = {"layers": 4, "hidden": 64, "heads": 4, "kv_heads": 4, "head_dim": 16, "ffn": 128, "vocabulary": 256}
TRAINING = {"kind": "transformer_training", "model": SHAPE, "global_batch": 24, "sequence": 32, "micro_batch": 1}
SERVING = {
    "kind": "transformer_inference", "model": SHAPE, "concurrency": 8, "input_tokens": 16, "output_tokens": 16,
}  # fmt: skip
TORUS: dict[str, Any] = {
    "kind": "torus", "servers": 1, "sides": [3, 2, 2], "link_bandwidth": "1 GB/s", "alpha": "1 us",
    "link_energy": "10 pJ/B",
}  # fmt: skip
CUBES = TORUS | {"servers": 3, "sides": [2, 2, 2], "switches": {"ports": 8, "energy": "20 pJ/B"}}
BOARDS = TORUS | {"servers": 2, "sides": [4, 2, 1], "boards": {"sides": [2, 2, 1]}}
SIPAC: dict[str, Any] = {
    "kind": "sipac", "servers": 1, "radix": 2, "digits": 4, "bandwidth": "6 GB/s", "alpha": "1 us", "energy": "1 pJ/B",
}  # fmt: skip
TWISTING = CUBES | {"servers": 4, "switches": {"ports": 8, "energy": "20 pJ/B", "twisted": True}}
SHIFTING = CUBES | {
    "servers": 4, "switches": {"ports": 8, "energy": "20 pJ/B", "line_shifts": ["line-shifts-2x2x1-2x2x2"]},
}  # fmt: skip
MIXTURE = TRAINING | {"model": SHAPE | {"experts": 32, "experts_per_token": 4}, "global_batch": 64}
OPTIONS = SolveOptions(time_limit_s=600.0, workers=1, deterministic_limit=60.0)
Fields = dict[str, Any]


def sliced(fabric: Fields, *jobs: Fields, health: Fields | None = None, residents: Any = (), **more: Any) -> Instance:
    cluster = {"device": "h100-sxm", "fabric": fabric, "health": health or {}}
    data = {"schema_version": 2, "name": "tiny", "cluster": cluster, "jobs": list(jobs), "residents": residents}
    return Instance.parse(data | more)


def job(name: str, accelerators: Any, workload: Fields = TRAINING, **fields: Any) -> Fields:
    return {"name": name, "workload": workload, "accelerators": accelerators, **fields}


def tiny(seed: int) -> Instance:
    """Two or three jobs of two or more ranks that do not all fit."""
    rng = Random(seed)
    fabric = rng.choice((TORUS, CUBES, SIPAC))
    sizes = {"torus": (2, 3, 4, 6, 8, 12, 16), "sipac": (2, 4, 8, 16)}[fabric["kind"]]
    largest = 24 if fabric is CUBES else 12 if fabric is TORUS else 16
    jobs = []
    for number in range(rng.choice((2, 3))):
        workload = SERVING if rng.random() < 0.3 else TRAINING
        allowed = [size for size in sizes if size <= largest and (workload is TRAINING or size <= 6)]
        chosen = sorted(rng.sample(allowed, min(len(allowed), rng.choice((1, 2, 3)))))
        jobs.append(job(f"j{number}", chosen, workload, weight=rng.choice((1, 2, 3))))
    probe = sliced(fabric, *jobs).cluster.fabric
    names = [probe.device_name(s, d) for s in range(probe.num_servers) for d in range(probe.devices_per_server)]
    health: Fields = {"failed_tiles": rng.sample(names, rng.choice((0, 1, 2)))}
    if fabric is CUBES:
        health["failed_switches"] = rng.sample(["x0", "y3", "z1"], rng.choice((0, 0, 1)))
    return sliced(fabric, *jobs, health=health, objectives=["value"])

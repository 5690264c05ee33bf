"""One small server of devices that share memory nodes, and jobs that cannot run without them."""

from functools import lru_cache
from typing import Any

from planner.model.instance import Instance
from planner.model.plan import Plan
from planner.pipeline import solve
from tests.planner.optimum import OPTIONS

Fields = dict[str, Any]
MODEL = {"layers": 6, "hidden": 768, "heads": 12, "kv_heads": 12, "head_dim": 64, "ffn": 3072, "vocabulary": 1024}
DEVICE = {"name": "small", "capacity": "0.8 GB", "memory_bandwidth": "3 TB/s", "flops": {"bf16": 500e12}}
FABRIC: Fields = {
    "kind": "memory_ring", "servers": 1, "shared_nodes": True,
    "node": {
        "devices": 4, "links": 4, "link_bandwidth": "25 GB/s", "alpha": "1 us", "arrangement": "ring",
        "node": {"dimm": {"capacity": "1 GB", "bandwidth": "2 GB/s", "power": "10 W"}, "dimms": 4},
    },
    "link_energy": "10 pJ/b", "memory_latency": "1 us", "memory_energy": "20 pJ/b",
    "network_bandwidth": "20 GB/s", "network_alpha": "5 us", "network_energy": "20 pJ/b",
}  # fmt: skip


def instance(*jobs: Fields, residents: tuple[Fields, ...] = (), **fabric: Any) -> Instance:
    data = {
        "schema_version": 2,
        "name": "nodes",
        "cluster": {"device": DEVICE, "fabric": FABRIC | fabric},
        "objectives": ["value"],
        "jobs": [*jobs],
        "residents": [*residents],
    }
    return Instance.parse(data, "nodes")


def job(name: str, size: int, *, offload: str = "activations+optimizer", **fields: Any) -> Fields:
    workload = {
        "kind": "transformer_training", "model": MODEL, "global_batch": 4, "sequence": 512, "micro_batch": 1,
        "offload": [offload],
    }  # fmt: skip
    return {"name": name, "workload": workload, "accelerators": size, "utility": "linear"} | fields


@lru_cache(maxsize=1)
def shared() -> tuple[Instance, Plan]:
    """Three jobs of one rank that contend for the DIMMs of four nodes."""
    asked = instance(job("a", 1), job("b", 1), job("c", 1))
    plan = solve(asked, options=OPTIONS).plan
    assert plan is not None
    return asked, plan


def resident(asked: Instance, plan: Plan, name: str, **fields: Any) -> Fields:
    """A job that runs as in a plan."""
    held = plan[name]
    known: Fields = asked.job(name).model_dump(mode="json", by_alias=True, exclude={"sizes"})
    where = {"devices": list(held.devices), "configuration": held.configuration.model_dump(mode="json")}
    return known | where | {"move_cost": 1.0} | fields

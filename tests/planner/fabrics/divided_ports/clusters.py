"""Small clusters whose accelerators divide their ports, and jobs for them."""

from functools import lru_cache
from typing import Any

from planner.model.instance import Instance
from planner.model.plan import Plan
from planner.pipeline import solve
from tests.planner.optimum import OPTIONS

Fields = dict[str, Any]
FABRIC: Fields = {
    "kind": "divided_ports", "servers": 2, "gpus_per_server": 4,
    "nvlink_bandwidth": "450 GB/s", "nvlink_alpha": "2 us", "nvlink_energy": "2 pJ/b",
    "network_bandwidth": "50 GB/s", "network_alpha": "8 us", "network_energy": "20 pJ/b",
    "memory": {"kind": "appliances", "part": "photonic-fabric-appliance", "per_server": 1, "ports": 8},
    "port_energy": "5 pJ/b",
}  # fmt: skip
SERVING = {
    "kind": "transformer_inference", "model": "llama-3.1-8b", "concurrency": 16,
    "input_tokens": 64, "output_tokens": 64,
}  # fmt: skip


def instance(
    *jobs: Fields, health: Fields | None = None, residents: tuple[Fields, ...] = (), **memory: Any
) -> Instance:
    fabric = FABRIC | {"memory": FABRIC["memory"] | memory}
    data = {
        "schema_version": 1,
        "name": "shares",
        "cluster": {"device": "h100-sxm", "fabric": fabric, "health": health or {}},
        "objectives": ["value"],
        "jobs": [*jobs],
        "residents": [*residents],
    }
    return Instance.parse(data, "shares")


def job(name: str, size: int, **fields: Any) -> Fields:
    return {"name": name, "workload": SERVING, "accelerators": size, "utility": "linear"} | fields


@lru_cache(maxsize=1)
def shared() -> tuple[Instance, Plan]:
    """Three jobs that contend for the 16 ports of each appliance."""
    asked = instance(job("a", 2), job("b", 2), job("c", 4))
    plan = solve(asked, options=OPTIONS).plan
    assert plan is not None
    return asked, plan


def resident(asked: Instance, plan: Plan, name: str) -> Fields:
    """A job that runs as in a plan."""
    held = plan[name]
    fields: Fields = asked.job(name).model_dump(mode="json", by_alias=True, exclude={"sizes"})
    where = {"devices": list(held.devices), "configuration": held.configuration.model_dump(mode="json")}
    return fields | where | {"move_cost": 1.0}

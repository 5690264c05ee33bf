"""Small clusters whose accelerators divide their ports, and jobs for them."""

from functools import lru_cache
from typing import Any

from costmodel.hardware.memory.tier import load_memory_tier
from costmodel.hardware.photonic_appliance import load_memory_appliance
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
        "schema_version": 2,
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


def tiered(*jobs: Fields, **fields: Any) -> Instance:
    """Appliances of modules of 40 GB, three units of 100 GB behind that of each server."""
    ddr = load_memory_tier("ddr5-module").model_copy(update={"capacity_bytes": 40e9})
    part = load_memory_appliance("photonic-fabric-appliance").model_copy(update={"ddr": ddr, "modules": 4})
    unit = load_memory_tier("cxl-ddr5").model_copy(update={"capacity_bytes": 100e9})
    memory = {"part": part.model_dump(mode="json", by_alias=True), "ports": 2}
    return instance(
        *jobs, second_tier={"unit": unit.model_dump(mode="json", by_alias=True), "units": 3}, **memory, **fields
    )


LONG = SERVING | {"model": "llama-3.1-70b", "precision": "fp8", "offload": ["none", "weights"]}
"""weights of 70 GB"""


def resident(asked: Instance, plan: Plan, name: str) -> Fields:
    """A job that runs as in a plan."""
    held = plan[name]
    fields: Fields = asked.job(name).model_dump(mode="json", by_alias=True, exclude={"sizes"})
    where = {"devices": list(held.devices), "configuration": held.configuration.model_dump(mode="json")}
    return fields | where | {"move_cost": 1.0}

"""Three racks of pooled memory that are joined, and a job over two of them, for the tests of their rules."""

from functools import lru_cache
from typing import Any

from planner.model.instance import Instance
from planner.model.plan import Assignment, Plan
from tests.planner.fabrics.joined_racks.racks import FABRICS, SWITCHES, TRAINING, best

SIZES = {"servers": 2, "accelerators_per_server": 2, "tray_ports": 2, "units_per_tray": 8, "uplinks": 2}


def joined_pools(*sizes: int, upper: dict[str, Any] | None = None, **health: list[str]) -> Instance:
    """Jobs j0, j1, ... of these sizes on three racks of two servers of two accelerators."""
    fabric = FABRICS["sipam"] | SIZES | {"upper": upper or SWITCHES}
    return Instance.parse({
        "schema_version": 2,
        "name": "joined-pools",
        "cluster": {"device": "h100-sxm", "fabric": fabric, "health": health},
        "jobs": [{"name": f"j{j}", "workload": TRAINING, "accelerators": size} for j, size in enumerate(sizes)],
        "objectives": ["value"],
    })  # fmt: skip


@lru_cache(maxsize=8)
def plan_of(*sizes: int) -> Plan:
    return best(joined_pools(*sizes))


def only(plan: Plan) -> Assignment:
    (assignment,) = plan.assignments
    return assignment

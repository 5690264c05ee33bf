"""A good plan in a pooled rack, and ways to break it."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from planner.checks import check
from planner.model.instance import Instance
from planner.model.plan import Plan
from planner.model.result import SolveOptions
from planner.pipeline import solve
from tests.oracles.tiny_pools import SMALL

FABRIC: dict[str, Any] = {
    "kind": "sipam", "servers": 2, "accelerators_per_server": 2,
    "shoreline": {"name": "edge", "perimeter_mm": 32, "io": "photonic-io", "source": "test"},
    "memory_unit": "memory-unit", "trays_per_server": 2, "units_per_tray": 6, "tray_ports": 2,
    "spine_rails": 2, "uplinks": 2, "switch_ports": 16,
    "alpha": "0.7 us", "reconfiguration": "25 us", "energy": "2 pJ/b",
}  # fmt: skip
WORKLOAD = {
    "kind": "transformer_training", "model": SMALL, "global_batch": 12, "sequence": 128, "micro_batch": 1,
}  # fmt: skip
Fields = dict[str, Any]


def pool(**health: Any) -> Instance:
    jobs = [
        {"name": "wide", "workload": WORKLOAD, "accelerators": 3},
        {"name": "x", "workload": WORKLOAD, "accelerators": 1},
    ]
    cluster = {"device": "h100-sxm", "fabric": FABRIC, "health": health}
    return Instance.parse({"schema_version": 2, "name": "p", "cluster": cluster, "objectives": ["value"], "jobs": jobs})


@lru_cache(maxsize=1)
def good() -> Plan:
    """A job of three ranks over two servers, and one of one rank."""
    result = solve(pool(), options=SolveOptions(time_limit_s=600.0, workers=1, deterministic_limit=10.0))
    assert result.plan is not None
    assert len({name.partition(".")[0] for name in result.plan["wide"].devices}) == 2
    return result.plan


def broken(change: Callable[[Fields], None]) -> set[str]:
    """Rules that a changed plan breaks."""
    data = good().model_dump(mode="json")
    change(data)
    return {violation.rule for violation in check(pool(), Plan.model_validate(data))}


def of(data: Fields, job: str) -> Fields:
    return next(each for each in data["assignments"] if each["job"] == job)

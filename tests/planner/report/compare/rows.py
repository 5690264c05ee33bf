"""Rows of comparisons, made up."""

from typing import Any

from planner.studies.compare.rows import PolicyRow


def row(policy: str, value: float | None, *, instance: str = "rack", seed: int = 0, **more: Any) -> PolicyRow:
    """A run that has a plan of this value, or none."""
    has = value is not None
    fields: dict[str, Any] = {
        "instance": instance, "parameters": {}, "policy": policy, "seed": seed,
        "status": "FEASIBLE" if has else "UNKNOWN",
        "objective": "value", "reached": value, "value": value, "admitted": 3 if has else 0, "jobs": 4,
        "devices_used": 8, "devices_healthy": 8, "energy": 2.0 if has else None, "power_w": 900.0 if has else None,
        "tokens_per_s": 1e5 if has else None, "joules_per_token": 0.5 if has else None, "samples_per_s": None,
        "joules_per_sample": None, "fragmentation": 0.1 if has else None, "moves": None, "bound": 10.0,
        "gap": None if value is None else (10.0 - value) / 10.0, "violations": 0 if has else None, "wall_time_s": 0.5,
    }  # fmt: skip
    return PolicyRow(**(fields | more))


ROWS = [
    row(policy, value + seed / 10, seed=seed, power_w=power, admitted=jobs,
        parameters={"cluster.fabric.fibers": fibers})
    for fibers in (1, 2)
    for policy, value, power, jobs in (
        ("cpsat", 8.0 + fibers, 900.0, 3), ("best_fit", 6.0, 700.0, 2), ("lazy", 6.0, 100.0, 1),
    )
    for seed in range(2)
]  # fmt: skip

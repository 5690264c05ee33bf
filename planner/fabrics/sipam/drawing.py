"""What a pool gave each job, beside what the SiPAM loop would have given it."""

from collections.abc import Mapping, Sequence
from typing import Any

from costmodel.fabrics import Sipam
from planner.model.instance import Instance
from planner.model.plan import Assignment
from planner.model.result import Result

LOOP = "sipam_loop"


def pool_gains(instance: Instance, result: Result, jobs: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Peak bandwidth of the accelerator's own memory, and for each job its share by the loop and its value there.

    None where memory is not pooled, or there is no plan. `loop` is None where the loop was not asked.
    """
    if not isinstance(instance.cluster.fabric, Sipam) or result.plan is None:
        return None
    start = result.starts.get(LOOP)
    placed = {a.job: a for a in start.assignments} if start is not None else {}
    return {
        "own_bytes_per_s": instance.cluster.device.memory_bytes_per_s,
        "value": result.objective,
        "loop": None if start is None else start.value,
        "by_loop": [_share(placed.get(job["name"])) for job in jobs],
    }


def _share(assignment: Assignment | None) -> dict[str, Any] | None:
    """Accelerators, units and I/Os of a rank, and value; None where the job waits."""
    if assignment is None:
        return None
    return {
        "devices": len(assignment.devices),
        "memory_units": assignment.configuration.memory_units,
        "memory_io": assignment.configuration.memory_io,
        "value": assignment.value,
    }

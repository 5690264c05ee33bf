"""Shared by the tests of `arrays` and `controller_events`."""

from pathlib import Path
from typing import Any

from planner.integrations.slurm.observed_state import DesiredState, ObservedState
from tests.planner.integrations.slurm.fragile import site
from tests.planner.integrations.slurm.job_requests_cases import row

SITE = site(Path("/state"), Path("/bindings"))
ASKS = "photonplan:nodes=1-1:gpus=2:type=any"
NOTHING = DesiredState({}, {}, {}, frozenset(), frozenset())


def observed(most: int, rest: str, *states: str, **changes: Any) -> ObservedState:
    """An array whose first tasks are jobs 8, 9, ... in these states: held, sent (released), run or done."""
    of: dict[str, Any] = {"admin_comment": ASKS, "array_id": 7, "most_tasks": most}
    jobs = {7: row(tasks=rest, **of | changes)} if rest else {}
    for task, state in enumerate(states):
        is_held, name = state == "held", {"run": "RUNNING", "done": "COMPLETED"}.get(state, "PENDING")
        reason = {"held": "JobHeldUser", "full": "JobArrayTaskLimit"}.get(state, "None")
        jobs[8 + task] = row(job_id=8 + task, state=name, is_held=is_held, reason=reason, task=task, **of)
    return ObservedState({}, {}, jobs, {}, {})

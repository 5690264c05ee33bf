"""Where the tensors of a job that offloads are, as data for the page."""

from typing import Any

from costmodel.dataflow.streams.placement import Placement
from planner.model.instance import Instance
from planner.model.plan import Assignment
from planner.pages.offload import placed_result, step_of
from planner.pages.problem import Pages, Task

MOST_TENSORS = 10
"""that are listed, the largest first"""


def second_tier_data(instance: Instance, assignment: Assignment) -> dict[str, Any] | None:
    """Bytes of one rank by place, the largest tensors, and times; None for a job that offloads nothing."""
    tier = assignment.second_tier
    if tier is None:
        return None
    result, step = placed_result(instance, assignment), step_of(instance, assignment)
    if result is None or result.placed is None or step is None:
        return None
    problem, pages = result.problem, result.placed[0]
    used_bytes = sum(problem.used_pages(result.placed)) * problem.page_bytes
    kept_bytes = problem.tasks[0].most_kept(pages) * problem.page_bytes
    free_bytes = max(step.local_bytes - kept_bytes, 0.0)
    always_bytes = step.capacity_bytes - kept_bytes - free_bytes
    return {
        "memory": tier.memory,
        "step_s": tier.step_s,
        "scored_s": step.scored_s,
        "gap": 0.0 if tier.is_proven else tier.gap,
        "without_s": tier.without_s,
        "rules": [[name, seconds] for name, seconds in tier.rules.items()],
        "own_bytes": [["always there", always_bytes], ["kept at most", kept_bytes], ["free", free_bytes]],
        "tier_bytes": [["second tier", used_bytes], ["free", max(step.tier.capacity_bytes - used_bytes, 0.0)]],
        **_tensors(problem.tasks[0], pages),
    }


def _tensors(task: Task, pages: Pages) -> dict[str, Any]:
    """All that may leave by place, over a step, and the largest of it."""
    size, program = task.program.size_bytes, task.program
    placement = Placement.from_pages(size, pages.moved, pages.kept, pages.remade)
    return {
        "absent_bytes": [
            ["offloaded", float(placement.moved_bytes.sum())],
            ["kept", float(placement.kept_bytes.sum())],
            ["recomputed", float(size[placement.is_remade].sum())],
        ],
        "tensors": [
            {
                "name": program.graph.tensors[program.absences[a].tensor].name,
                "bytes": float(size[a]),
                "away": float(placement.moved_bytes[a].sum() / size[a]),
                "is_remade": bool(placement.is_remade[a]),
            }
            for a in (-size).argsort(kind="stable")[:MOST_TENSORS].tolist()
        ],
    }

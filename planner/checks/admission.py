"""Who is in the plan."""

from collections import Counter
from collections.abc import Iterator

from planner.checks.names import admitted
from planner.model.instance import Instance
from planner.model.job import Resident
from planner.model.plan import Plan
from planner.model.violation import Violation


def check_admission(instance: Instance, plan: Plan) -> Iterator[Violation]:
    """Each job has at most one assignment; required jobs and residents have exactly one."""
    jobs = instance.jobs_by_name
    if len(admitted(instance, plan)) < len(plan.assignments):
        for name, count in Counter(plan.admitted).items():
            if name not in jobs:
                yield Violation("admission", name, f"the instance has no job '{name}'", float(count))
            if count > 1:
                yield Violation("admission", name, f"{name} has {count} assignments", count - 1.0)
    needed = [*instance.residents, *(job for job in instance.jobs if job.required)]
    present = {assignment.job for assignment in plan.assignments} if needed else ()
    for job in needed:
        if job.name not in present:
            kind = "resident" if isinstance(job, Resident) else "required job"
            yield Violation("admission", job.name, f"the {kind} {job.name} has no assignment")

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
    counts, jobs = Counter(plan.admitted), instance.jobs_by_name
    for name, count in counts.items() if len(admitted(instance, plan)) < len(plan.assignments) else ():
        if name not in jobs:
            yield Violation("admission", name, f"the instance has no job '{name}'", float(count))
        if count > 1:
            yield Violation("admission", name, f"{name} has {count} assignments", count - 1.0)
    for job in jobs.values():
        if (job.required or isinstance(job, Resident)) and counts[job.name] == 0:
            kind = "resident" if isinstance(job, Resident) else "required job"
            yield Violation("admission", job.name, f"the {kind} {job.name} has no assignment")

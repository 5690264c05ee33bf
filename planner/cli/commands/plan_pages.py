"""planner pages INSTANCE JOB --plan: where a plan keeps the tensors of a job that offloads."""

from pathlib import Path
from typing import TYPE_CHECKING

from planner.cli.inputs import load_plan, naming, require_job
from planner.model.errors import InputError

if TYPE_CHECKING:
    from planner.pages.result import PageResult


def planned_pages(path: Path, job: str | None, plan_path: Path) -> "PageResult":
    """The placement that a plan of an instance states for a job, checked."""
    from planner.model.instance import Instance
    from planner.pages.offload import placed_result
    from planner.pages.rule_offload import check_second_tier

    if job is None:
        raise InputError("planner pages", "JOB", "with --plan one job is shown; name it after the instance")
    instance = Instance.load(path)
    name = require_job(path, instance, job)
    plan = load_plan(plan_path, instance)
    field = f"assignments[{name}].second_tier"
    if name not in plan.admitted:
        raise InputError(str(plan_path), field, "the plan does not admit this job")
    only = plan.model_copy(update={"assignments": (plan[name],)})
    with naming(path, instance):
        if violations := list(check_second_tier(instance, only)):
            raise InputError(str(plan_path), field, f"{violations[0].message}; `planner check` says more")
        result = placed_result(instance, plan[name])
    if result is None:
        raise InputError(str(plan_path), field, "the plan places no tensors of this job: it offloads nothing")
    return result

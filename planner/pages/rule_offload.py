"""Tensors of jobs that offload: where they are, recounted, and how long a step then takes, replayed."""

from collections.abc import Iterator

from costmodel.dataflow.networks.trained import rank_step_of
from planner.checks.names import admitted
from planner.model.instance import Instance
from planner.model.page_plan import JobPages
from planner.model.plan import Plan
from planner.model.rank_step import PageCase
from planner.model.violation import Violation
from planner.pages.rule_pages import check_case


def check_second_tier(instance: Instance, plan: Plan) -> Iterator[Violation]:
    """Placements that a plan states lie in what their jobs have, and take the time that they claim."""
    cluster = instance.cluster
    for job, assignment in admitted(instance, plan):
        tier = assignment.second_tier
        if tier is None and not instance.placed_steps:
            continue
        try:
            step = rank_step_of(assignment.configuration, job.workload, cluster.device, cluster.fabric)
        except (ValueError, OverflowError):
            continue
        if tier is None:
            if step is not None:
                message = f"{job.name}: the plan does not say where its tensors are, on which its step depends"
                yield Violation("second_tier", job.name, message)
            continue
        if step is None:
            yield Violation("second_tier", job.name, f"{job.name}: its configuration offloads nothing")
            continue
        case = PageCase.of_rank(job.name, step)
        for name, stated, known in (
            ("memory", tier.memory, step.tier.name),
            ("page_bytes", tier.page_bytes, case.page_bytes),
        ):
            if stated != known:
                yield Violation("second_tier", f"{job.name}: {name}", f"{job.name}: {name} is {known}, not {stated}")
        step_s = tier.step_s - step.other_s
        yield from check_case(case, [JobPages(job=job.name, tensors=tier.tensors, step_s=step_s)])

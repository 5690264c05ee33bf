"""Where jobs that offload keep their tensors, inside what a plan reserves for them: nothing of it changes the plan."""

import time
from dataclasses import replace

import numpy as np

from costmodel.dataflow.networks.rank_step import RankStep
from costmodel.dataflow.networks.trained import rank_step_of
from planner.candidates.expand import list_options
from planner.fabrics.problem import Problem
from planner.model.instance import Instance
from planner.model.plan import Assignment, SecondTier
from planner.model.rank_step import PageCase
from planner.model.result import Incumbent, Result, SolveOptions, Status
from planner.pages.policies import RULES, find_page_policy
from planner.pages.problem import PageProblem, Pages
from planner.pages.result import PageResult

POLICY = "cpsat"
COMPARED = ("local", "greedy_keep")
"""rules that differ where there is one way: everything goes, or what leaves last stays"""
PROVEN_SOURCE, LIMIT_SOURCE = "proven", "limit"


def with_second_tiers(problem: Problem, result: Result, options: SolveOptions) -> Result:
    """The result with the tensors of each job that offloads placed, if that is asked for; jobs share the time limit."""
    if result.plan is None or options.pages_time_limit_s is None:
        return result
    steps = {each.job: step for each in result.plan.assignments if (step := step_of(problem.instance, each))}
    ends_s, started = time.perf_counter() + options.pages_time_limit_s, time.perf_counter()
    placed = []
    for assignment in result.plan.assignments:
        step = steps.pop(assignment.job, None)
        if step is not None:
            limit_s = max(ends_s - time.perf_counter(), 0.0) / (len(steps) + 1)
            tier = place(assignment.job, step, replace(options, time_limit_s=limit_s))
            if tier is not None:
                tier = tier.model_copy(update={"without_s": without_tier_s(problem.instance, assignment)})
            assignment = assignment.model_copy(update={"second_tier": tier})
            _tell(assignment, result.wall_time_s + time.perf_counter() - started, options)
        placed.append(assignment)
    return replace(result, plan=result.plan.model_copy(update={"assignments": tuple(placed)}))


def step_of(instance: Instance, assignment: Assignment) -> RankStep | None:
    """The step of one rank of an assignment; None where it offloads nothing."""
    cluster = instance.cluster
    return rank_step_of(assignment.configuration, instance.job(assignment.job).workload, cluster.device, cluster.fabric)


def place(job: str, step: RankStep, options: SolveOptions) -> SecondTier | None:
    """The best placement found in time; None where none was found that fits."""
    problem = PageProblem.of_case(PageCase.of_rank(job, step))
    result = find_page_policy(POLICY)(problem, replace(options, on_incumbent=None, hint=None))
    if result.plan is None or result.value_s is None or result.bound_s is None:
        return None
    other_s = step.other_s
    rules = {name: problem.value_s(pages) + other_s for name in COMPARED if (pages := RULES[name](problem)) is not None}
    return SecondTier(
        memory=step.tier.name,
        page_bytes=step.page_bytes,
        tensors=result.plan.jobs[0].tensors,
        step_s=result.value_s + other_s,
        bound_s=result.bound_s + other_s,
        is_proven=result.status is Status.OPTIMAL,
        rules=rules,
    )


def without_tier_s(instance: Instance, assignment: Assignment) -> float | None:
    """Fastest step that is listed for the job on no more devices and offloads nothing."""
    listed = list_options(instance, instance.job(assignment.job))
    rows = listed.candidates
    stays = (rows.mappings.offload[rows.mapping] == 0) & (rows.num_devices <= assignment.configuration.num_devices)
    return float(listed.scores.step_s[stays].min()) if stays.any() else None


def placed_result(instance: Instance, assignment: Assignment) -> PageResult | None:
    """The placement of a plan as a policy would have returned it; None where the assignment has none."""
    step, tier = step_of(instance, assignment), assignment.second_tier
    if step is None or tier is None:
        return None
    problem = PageProblem.of_case(PageCase.of_rank(assignment.job, step))
    pages = Pages(
        moved=np.array([[each.pages.get(link.name, 0) for link in step.links] for each in tier.tensors], np.int64),
        kept=np.array([each.kept for each in tier.tensors], np.int64),
        remade=np.array([each.remade for each in tier.tensors], bool),
    )
    status = Status.OPTIMAL if tier.is_proven else Status.FEASIBLE
    step_s, bound_s = tier.step_s - step.other_s, tier.bound_s - step.other_s
    return PageResult(status, "plan", problem, (pages,), step_s, bound_s, 0.0)


def _tell(assignment: Assignment, wall_time_s: float, options: SolveOptions) -> None:
    tier = assignment.second_tier
    if tier is not None and options.on_incumbent is not None:
        source = PROVEN_SOURCE if tier.is_proven else LIMIT_SOURCE
        options.on_incumbent(Incumbent(wall_time_s, f"{assignment.job} step", tier.step_s, tier.bound_s, source))

"""Why a job is in a plan or not, in the words of the instance, each statement proven by solve or count."""

from dataclasses import replace

from planner.explain.admitted import (
    its_links,
    its_pools,
    its_second_tier,
    its_turns,
    what_evaluation_takes,
    what_is_taken,
    what_phases_gain,
    what_sizes_change,
    where_it_runs,
)
from planner.explain.explanation import Explanation, Statement, Tag
from planner.explain.no_plan import why_no_plan
from planner.explain.whatif_solver import WhatIfSolver
from planner.explain.why_not import Reason, why_impossible, why_not
from planner.model.arguments import require_instance, require_plan
from planner.model.instance import Instance
from planner.model.plan import Plan
from planner.model.result import SolveOptions, Status
from planner.model.too_large import told_too_large
from planner.pipeline import solve

__all__ = ["Explanation", "Statement", "Tag", "explain"]

PLAN_SHARE = 0.5
"""share of the time limit for the plan, where none is given"""
SCORED = "what else could run is judged by predicted steps here: where its tensors would lie is not searched"


def explain(
    instance: Instance,
    job_name: str,
    *,
    plan: Plan | None = None,
    time_limit_s: float = 30.0,
    options: SolveOptions | None = None,
) -> Explanation:
    """Why a plan admits a job or not, and what would change it; without a plan one is solved for first.

    The time limit is in seconds and shared by all questions; with `options.deterministic_limit` each question
    has that limit instead. InputError where the instance has no such job or the plan is of another instance.
    """
    require_instance("explain", instance)
    if plan is not None:
        require_plan("explain", plan)
    instance.job(job_name)
    solver = WhatIfSolver(instance, options or SolveOptions(), time_limit_s)
    tag, headline, statements, cost = _reason(solver, job_name, plan)
    if told := told_too_large(instance, instance.job(job_name)):
        statements = [*statements, Statement(f"of its sizes {told}")]
    if instance.placed_steps:
        statements = [*statements, Statement(SCORED, is_verified=False)]
    return Explanation(job_name, tag, headline, tuple(statements), cost, solver.elapsed_s)


def _reason(solver: WhatIfSolver, name: str, plan: Plan | None) -> Reason:
    if plan is not None and name in plan.admitted:
        return _admitted(solver, plan, name)
    impossible = why_impossible(solver, name)
    if impossible is not None:
        return impossible
    if plan is None:
        plan, missing = _solved(solver, name)
        if plan is None:
            return missing
    if name in plan.admitted:
        return _admitted(solver, plan, name)
    return why_not(solver, plan, name)


def _admitted(solver: WhatIfSolver, plan: Plan, name: str) -> Reason:
    its = (its_pools, its_second_tier, its_turns, its_links)
    told = (*its, what_is_taken, what_evaluation_takes, what_phases_gain)
    statements = [statement for each in told for statement in each(solver.instance, plan, name)]
    statements += what_sizes_change(solver, plan, name)
    return "admitted", where_it_runs(solver, plan, name), statements, None


def _solved(solver: WhatIfSolver, name: str) -> tuple[Plan | None, Reason]:
    """A plan, or why there is none to explain."""
    limit_s = PLAN_SHARE * solver.time_limit_s
    result = solve(solver.instance, options=replace(solver.options, time_limit_s=limit_s))
    if result.status is Status.INFEASIBLE:
        text = "the required jobs and residents cannot all run, so there is no plan"
        return None, ("does not fit beside this plan", f"{name}: {text}", [*why_no_plan(solver)], None)
    text = f"no plan was found within {limit_s:g} s; give more time"
    reason: Reason = ("undecided in time", f"{name} is undecided in time", [Statement(text, False)], None)
    return result.plan, reason

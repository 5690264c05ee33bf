"""The straight line in one call: instance -> candidates -> scores -> problem -> policy -> result, tensors placed."""

import time
from dataclasses import replace
from typing import Any

from planner.candidates.expand import expand
from planner.fabrics import plugin_of
from planner.fabrics.problem import Problem
from planner.model.arguments import require_instance
from planner.model.clock import Clock
from planner.model.errors import InputError
from planner.model.instance import Instance
from planner.model.result import Result, SolveOptions
from planner.pages.loop import solve_placed
from planner.pages.offload import with_second_tiers
from planner.policies import Policy, find_policy

LISTING_SHARE, SHORT_SHARE, LISTING_S = 0.6, 0.7, 0.7
"""of a time limit, and seconds at least, in which dominated candidates are looked for, and jobs are listed"""

CHECK_SHARE, CHECK_JOB_S, FEW_JOBS = 0.3, 0.003, 100
"""of a time limit at most, and for each job beyond a few at least, that the check of a plan is given"""


def listing(clock: Clock, instance: Instance) -> tuple[Clock, Clock]:
    """Until when dominated candidates are looked for, and jobs are listed, of a time limit that begins and of which
    some is kept for jobs that take long to place and check; none are looked for where few candidates are enough."""
    starts = plugin_of(instance.cluster.fabric).starts
    kept_s = starts.job_s * len(instance.all_jobs)
    left_s, least_s = clock.left_s, max(LISTING_S - kept_s, LISTING_S / 2)
    whole, last = (clock.within(min(share * left_s, left_s - kept_s)) for share in (LISTING_SHARE, SHORT_SHARE))
    is_short = starts.lists_few(instance, left_s)
    return whole.within(0.0) if is_short else whole.lasting(least_s), last.lasting(least_s)


def searching_s(clock: Clock, limit_s: float, num_jobs: int) -> float:
    """Seconds that a search may take of a time limit, where jobs are listed and the plan is checked after it: the check
    lists anew what is not remembered, in as long as that took."""
    used_s = limit_s - clock.left_s
    return max(clock.left_s - min(CHECK_SHARE * limit_s, max(used_s, CHECK_JOB_S * (num_jobs - FEW_JOBS))), 0.0)


def solve(
    instance: Instance | Problem,
    *,
    policy: str | Policy = "cpsat",
    options: SolveOptions | None = None,
    is_checked: bool = False,
    **limits: Any,
) -> Result:
    """Plan an instance with a policy; keywords such as `time_limit_s` set fields of `SolveOptions`.

    `is_checked`: the time limit holds for a check of the plan, too, which the caller makes. InputError where an
    argument is of another type, unknown or out of range.
    """
    if not isinstance(instance, Problem):
        require_instance("solve", instance)
    if unknown := sorted(limits.keys() - SolveOptions.__dataclass_fields__.keys()):
        known = ", ".join(SolveOptions.__dataclass_fields__)
        raise InputError("solve", unknown[0], f"is no option; options are: policy, {known}")
    started = time.perf_counter()
    chosen = replace(options or SolveOptions(), **limits)
    clock, chosen_s = chosen.clock(), chosen.time_limit_s
    if isinstance(instance, Problem):
        problem = instance
    else:
        whole, last = listing(clock, instance) if chosen.deterministic_limit is None else (None, None)
        problem = expand(instance, clock=whole, last=last)
        chosen = replace(chosen, time_limit_s=clock.left_s)
    if is_checked and chosen.deterministic_limit is None:
        chosen = replace(chosen, time_limit_s=searching_s(clock, chosen_s, len(problem.options)))
    plans = _checked(find_policy(policy))
    if problem.instance.placed_steps:
        result = solve_placed(problem, plans, chosen)
    else:
        result = with_second_tiers(problem, plans(problem, chosen), chosen)
    counts = {"candidates": problem.num_candidates, "dominated": problem.num_dominated}
    seconds = time.perf_counter() - started
    return replace(result, wall_time_s=seconds, statistics={**counts, **result.statistics})


def _checked(policy: Policy) -> Policy:
    """The policy; InputError where it returns no result."""

    def plans(problem: Problem, options: SolveOptions) -> Result:
        found: object = policy(problem, options)
        if not isinstance(found, Result):
            raise InputError("policy", "", f"returned {type(found).__name__}; a policy returns a planner.Result")
        return found

    return plans

"""The public call: what a policy plans is handed out only if the check, which shares nothing with it, accepts it."""

from typing import Any

from planner import pipeline
from planner.checks import check
from planner.fabrics.problem import Problem
from planner.model.errors import RefusedPlanError
from planner.model.instance import Instance
from planner.model.result import Result, SolveOptions
from planner.policies import Policy


def solve(
    instance: Instance | Problem,
    *,
    policy: str | Policy = "cpsat",
    options: SolveOptions | None = None,
    **limits: Any,
) -> Result:
    """Plan an instance with a policy, by name or a function; keywords like `time_limit_s` set fields of `SolveOptions`.

    Raises RefusedPlanError, an error of this program, for a plan that the check refuses.
    """
    result = pipeline.solve(instance, policy=policy, options=options, is_checked=True, **limits)
    if result.plan is not None:
        whole = instance.instance if isinstance(instance, Problem) else instance
        violations = check(whole, result.plan, starts=True)
        if violations:
            raise RefusedPlanError([violation.message for violation in violations], result.plan)
    return result

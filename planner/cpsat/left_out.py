"""The jobs that a plan does not admit, and why, as far as it is known without solving again."""

import shlex
from collections.abc import Sequence

from planner.candidates.unlisted import why_unlisted
from planner.fabrics.problem import Problem
from planner.model.instance import Objective
from planner.model.plan import Plan
from planner.model.result import LeftOut


def left_out_of(problem: Problem, plan: Plan) -> tuple[LeftOut, ...]:
    """Jobs that the plan does not admit."""
    admitted = set(plan.admitted)
    reason = _unasked(problem.instance.objectives)
    if reason is None:
        reason = "left out for what runs instead" if admitted else "no way to run it was found"
    return tuple(
        LeftOut(
            options.job.name,
            f"{reason} (planner explain INSTANCE {shlex.quote(options.job.name)})"
            if len(options)
            else "not listed in the time limit"
            if not options.is_listed
            else f"impossible alone: {why_unlisted(problem.cluster, options.job)}",
        )
        for options in problem.options
        if options.job.name not in admitted
    )


def _unasked(objectives: Sequence[Objective]) -> str | None:
    """The reason that the order of objectives gives for leaving a job out; None where value decides."""
    names = [objective.name for objective in objectives]
    if "value" not in names:
        return f"no objective of [{', '.join(names)}] asks for it to run: list value first, or make it required"
    before = [name for name in names[: names.index("value")] if name != "moves"]
    if not before:
        return None
    verb = "comes" if len(before) == 1 else "come"
    return (
        f"{' and '.join(before)} {verb} before value in the objectives and {verb.replace('come', 'ask')} for no job to "
        "run: list value first, or make it required"
    )

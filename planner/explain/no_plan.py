"""Why there is no plan: what the jobs that must run lack together."""

from collections.abc import Iterator

from planner.explain.explanation import Statement
from planner.explain.whatif_solver import WhatIfSolver
from planner.fabrics.problem import must_run
from planner.model.edit import with_job
from planner.model.phrases import accelerators, listed

MOST_ASKED = 8
"""required jobs of which each is asked whether the others run without it"""


def why_no_plan(solver: WhatIfSolver) -> Iterator[Statement]:
    """The accelerators that they need, where these are too few; which of them stands in the way of the others."""
    instance = solver.instance
    least = sum(min(job.sizes) for job in instance.all_jobs if must_run(job))
    if least > instance.cluster.num_healthy:
        yield Statement(f"they need {accelerators(least)} at least, {instance.cluster.num_healthy} work")
    asked = [job.name for job in instance.jobs if job.required][:MOST_ASKED]
    answers = {name: solver.answer(with_job(instance, name, required=False), any_plan=True) for name in asked}
    if enough := [name for name, answer in answers.items() if answer.is_possible]:
        yield Statement(f"all others can run if {listed(enough, 'or')} is not required")
    elif answers and all(answer.is_possible is False for answer in answers.values()):
        yield Statement(f"to leave out {listed([*answers], 'or')} alone is not enough")

"""Which few jobs of refused choices exclude each other already: the fewer they are, the more choices they rule out."""

from collections.abc import Sequence

from planner.cpsat.step2.realize import realize
from planner.fabrics.pattern import Pattern
from planner.fabrics.problem import Problem
from planner.formulation.step_two import StepTwoLimits
from planner.model.clock import Clock

Jobs = tuple[int, ...]


def reasons_of(problem: Problem, pattern: Pattern, jobs: Jobs, limits: StepTwoLimits, clock: Clock) -> Sequence[Jobs]:
    """Every one of these jobs that is refused alone; else jobs that are refused together, though without any one of
    them they are not refused in time. None where these jobs are not refused together."""

    def refused(some: Jobs) -> Jobs | None:
        return None if clock.is_over else _refused(problem, pattern, some, limits)

    alone = [(j,) for j in jobs if refused((j,))]
    left = None if alone else refused(jobs)
    if left is None:
        return alone
    for j in left:
        if j in left:
            left = refused(tuple(k for k in left if k != j)) or left
    return [left]


def _refused(problem: Problem, pattern: Pattern, jobs: Jobs, limits: StepTwoLimits) -> Jobs | None:
    """Some of the jobs that exclude each other as they lie, with nobody else there; None without proof."""
    return tuple(realize(problem, {j: pattern[j] for j in jobs}, limits).nogood) or None

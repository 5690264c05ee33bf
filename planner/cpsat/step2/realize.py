"""From a pattern of step 1 to a plan: first fit, then the exact step 2 of the fabric where first fit fails."""

from planner.cpsat.step2.by_rack import ByRack
from planner.fabrics import plugin_of
from planner.fabrics.pattern import Pattern, route_pattern
from planner.fabrics.problem import Problem
from planner.formulation.nogood import MostLit
from planner.formulation.step_two import Realized, StepTwoLimits


def realize(problem: Problem, pattern: Pattern, limits: StepTwoLimits, most_lit: MostLit | None = None) -> Realized:
    """Ranks, devices and circuits for every job of the pattern; `most_lit`: fibers that may carry light."""
    found = route_pattern(problem, pattern, most_lit)
    if found is not None:
        return Realized(tuple(found))
    parts, step_two = ByRack.of(problem, pattern), plugin_of(problem.cluster.fabric).step_two
    return parts.joined(step_two.realize(parts.problem, parts.pattern, limits, most_lit), limits)


def is_beyond_search(problem: Problem, pattern: Pattern) -> bool:
    """True if some jobs of a pattern are too many to be searched exactly."""
    parts = ByRack.of(problem, pattern)
    return plugin_of(problem.cluster.fabric).step_two.is_beyond_search(parts.problem, parts.pattern)

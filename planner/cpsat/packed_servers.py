"""Value where it is enough to know which parts lie together: the fabric packs servers, and says what that proves."""

from dataclasses import replace

from planner.cpsat.search import Search
from planner.cpsat.step2.fix_configurations import step_two_limits
from planner.fabrics import plugin_of
from planner.fabrics.pattern import route_pattern
from planner.model.clock import Clock

DEPTHS = (0.001, 0.002, 0.004, 0.006, 0.009, 0.013, 0.02, 0.03, 0.05)
"""how far below the relaxation's bound, as a fraction, the value of plans may be that are searched"""


def pack_servers(search: Search, clock: Clock) -> bool:
    """The best plan so far and the bound, as far as the fabric packs servers; true if no plan is worth more.

    Ever more plans are searched, until all that are worth as much as the best one are.
    """
    problem, step_one = search.full, plugin_of(search.full.cluster.fabric).step_one
    for depth in DEPTHS:
        value, threshold = search.value("value"), (1 - depth) * search.knapsack.bound
        least = threshold if value is None else max(value, threshold)
        limits = replace(step_two_limits(search, clock), time_limit_s=clock.left_s)
        packed = step_one.packed_servers(problem, least, limits)
        if packed is None:
            return False
        found = route_pattern(problem, packed.pattern) if packed.pattern else None
        if found is not None:
            search.adopt("value", found, "servers")
        search.tighten("value", max(packed.bound, least))
        if search.reaches_bound(packed.rounding):
            return True
        if least == value or clock.is_over or search.is_stopped:
            return False
    return False

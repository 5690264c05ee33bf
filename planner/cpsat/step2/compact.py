"""Of plans that are equal in every objective, one that keeps jobs together."""

from collections.abc import Sequence
from math import ceil

from planner.cpsat.search import Search
from planner.cpsat.step1.objectives import OBJECTIVES
from planner.cpsat.step1.size import may_be_buildable
from planner.cpsat.step2.fix_configurations import fix_configurations
from planner.fabrics.pattern import Pattern
from planner.fabrics.problem import Problem
from planner.model.plan import Assignment
from planner.model.result import is_worse

FEWER_SERVERS_LIMIT_S = 2.0
"""of wall-clock time for the search"""


def compact(search: Search) -> None:
    """Try the same configurations on as few servers as possible; adopted if no objective is worse."""
    assert search.assignments is not None
    num_servers = search.full.cluster.fabric.num_servers
    if not may_be_buildable(len(search.assignments), num_servers, search.clock.within(FEWER_SERVERS_LIMIT_S)):
        return
    spread, pattern = _servers(search, search.assignments), search.pattern()
    is_late = search.options.deterministic_limit is None and search.clock.left_s < FEWER_SERVERS_LIMIT_S
    if search.is_stopped or is_late or spread == _fewest_servers(pattern, search.problem):
        return
    found = fix_configurations(search, pattern, search.clock.within(FEWER_SERVERS_LIMIT_S))
    if found is None or _servers(search, found) >= spread:
        return
    for objective in (OBJECTIVES[each.name] for each in search.full.instance.objectives):
        old, new = (objective.value(search.full, plan) for plan in (search.assignments, found))
        if is_worse(new, old, is_maximized=objective.is_maximized):
            return
    search.assignments = found


def _servers(search: Search, assignments: Sequence[Assignment]) -> int:
    """Servers touched, summed over jobs."""
    parse = search.full.cluster.fabric.parse_device
    return sum(len({parse(name)[0] for name in assignment.devices}) for assignment in assignments)


def _fewest_servers(pattern: Pattern, problem: Problem) -> int:
    """The same if every server were whole and empty: no plan with these configurations touches fewer."""
    each = problem.cluster.fabric.devices_per_server
    shapes = [problem.options[j].shapes[choice.row] for j, choice in pattern.items()]
    return sum(ceil(shape.num_parts / (1 if shape.is_apart else each // shape.part)) for shape in shapes)

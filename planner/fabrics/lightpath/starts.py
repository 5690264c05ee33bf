"""Where the search over fibers starts from."""

from collections.abc import Callable

from planner.fabrics.lightpath.shortlist import listed_shortly
from planner.fabrics.problem import Problem
from planner.fabrics.starts import Starts


class LightpathStarts(Starts):
    """Few candidates where slots matter or step 1 would be too large."""

    def short_list(self, problem: Problem, is_large: Callable[[], bool]) -> Problem | None:
        return listed_shortly(problem) if problem.cluster.fabric.slots_matter or is_large() else None

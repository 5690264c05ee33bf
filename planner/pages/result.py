"""What a policy for pages returns: the placement, its simulated time, and what was proven about it."""

from collections.abc import Callable
from dataclasses import dataclass

from planner.model.page_plan import PagePlan
from planner.model.result import Incumbent, SolveOptions, Status, relative_gap
from planner.pages.problem import PageProblem, Pages

PROVEN = 1e-4
"""relative distance to the bound that counts as none: times are whole ticks to the solver"""
OBJECTIVE = "step time"


@dataclass(frozen=True)
class PageResult:
    """`status` OPTIMAL: no placement is faster; INFEASIBLE: proven that the pages fit nowhere."""

    status: Status
    policy: str
    problem: PageProblem
    placed: tuple[Pages, ...] | None
    value_s: float | None
    """weighted time of the simulated steps"""
    bound_s: float | None
    """no placement takes less"""
    wall_time_s: float
    trace: tuple[Incumbent, ...] = ()

    @property
    def gap(self) -> float | None:
        return relative_gap(self.value_s, self.bound_s)

    @property
    def plan(self) -> PagePlan | None:
        return None if self.placed is None else self.problem.plan(self.placed)


PagePolicy = Callable[[PageProblem, SolveOptions], PageResult]

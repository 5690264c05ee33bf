"""Rows that find a place on an empty cluster: of all others no search beside other jobs needs to know."""

from typing import cast

from planner.fabrics.demand import Demand
from planner.fabrics.free_state import FreeState
from planner.fabrics.problem import JobOptions, Problem
from planner.fabrics.search import Search
from planner.heuristics.strategies import over_evenly
from planner.model.clock import Clock

PARTS = (2, 3, 4, 6, 8)
"""servers over which a job is dealt out evenly"""


class Standing:
    """Whether first fit realises demands alone, asked once of each: in one server, or dealt out evenly over some."""

    def __init__(self, problem: Problem) -> None:
        self._empty = FreeState.empty(problem.cluster)
        self._known: dict[Demand, bool] = {}

    @classmethod
    def of(cls, problem: Problem) -> "Standing":
        """Answers for the rows of a problem, which it keeps."""
        if cls not in problem.relaxations:
            problem.relaxations[cls] = cls(problem)
        return cast(Standing, problem.relaxations[cls])

    def allows(self, options: JobOptions, row: int, clock: Clock) -> bool:
        """False if the row was asked for and finds no place; once the clock is over nothing new is asked."""
        demand = options.shapes[row]
        if demand not in self._known:
            if clock.is_over:
                return True
            self._known[demand] = self._stands(options, row)
        return self._known[demand]

    def _stands(self, options: JobOptions, row: int) -> bool:
        free, search = self._empty, Search(over_evenly(PARTS))
        asked = [(options.shapes[row], row)]
        found = free.first_that_fits(asked, search, lambda row, blocks: free.assign(options, row, blocks))
        if found is not None:
            free.release_named(found)
        return found is not None

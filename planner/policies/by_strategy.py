"""Policies that are a strategy and no more: plans and replays ask the same function, replays at full speed."""

import time
from dataclasses import dataclass

from planner.fabrics.problem import Problem
from planner.fabrics.search import Strategy
from planner.heuristics.greedy import place_all
from planner.model.result import Result, SolveOptions
from planner.policies.heuristic import heuristic_result


@dataclass(frozen=True)
class StrategyPolicy:
    """Jobs in arrival order, each with its most valuable candidate that fits, over servers as a strategy says."""

    name: str
    strategy: Strategy

    def __call__(self, problem: Problem, options: SolveOptions) -> Result:
        """A plan of all jobs."""
        started = time.perf_counter()
        assignments = place_all(problem, self.strategy, clock=options.clock())
        return heuristic_result(self.name, problem, options, started, assignments)

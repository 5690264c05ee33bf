"""The method of SiPAM (paper 001): each job by itself divides its I/O, then all are placed one after the other."""

import time
from collections.abc import Sequence

import numpy as np

from planner.fabrics import plugin_of
from planner.fabrics.problem import JobOptions, Problem
from planner.heuristics.greedy import place_all
from planner.heuristics.strategies import tightest
from planner.model.clock import Clock
from planner.model.plan import Assignment
from planner.model.result import Result, SolveOptions
from planner.policies.heuristic import heuristic_result


def sipam_loop(problem: Problem, options: SolveOptions) -> Result:
    """Jobs in arrival order, with the memory units and accelerators that the loop gives each of them.

    Where memory is local there is nothing to divide: then this is `best_fit`.
    """
    started = time.perf_counter()
    return heuristic_result("sipam_loop", problem, options, started, place_by_loop(problem, options.clock()))


def place_by_loop(problem: Problem, clock: Clock | None = None) -> list[Assignment] | None:
    """Assignments of all jobs that fit, or None if one that must run does not."""
    published_rows = plugin_of(problem.cluster.fabric).published_rows

    def order(options: JobOptions) -> Sequence[int]:
        rows = published_rows(problem.cluster, options.job, options.candidates)
        if rows is None:
            return options.rows_by_value()
        return [int(row) for row in rows[np.argsort(-options.value[rows], kind="stable")]]

    return place_all(problem, tightest, row_order=order, clock=clock)

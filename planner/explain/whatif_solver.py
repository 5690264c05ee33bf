"""Solves of what-if instances, each on a small budget of its own."""

import time
from collections.abc import Collection
from dataclasses import dataclass, field, replace

import numpy as np

from planner.fabrics.problem import Problem
from planner.model.edit import with_objectives
from planner.model.instance import Instance, ObjectiveName
from planner.model.job import Reference
from planner.model.plan import Plan
from planner.model.result import Result, SolveOptions, Status
from planner.pipeline import solve
from planner.whatif.comparable import expand_as, references

SHARE = 0.1
"""share of the whole time limit that one solve may use"""


@dataclass(frozen=True)
class Answer:
    """Whether a plan exists; None where the time did not suffice to tell."""

    is_possible: bool | None
    plan: Plan | None = None

    @classmethod
    def of(cls, result: Result) -> "Answer":
        if result.plan is not None:
            return cls(True, result.plan)
        return cls(False if result.status is Status.INFEASIBLE else None)


@dataclass
class WhatIfSolver:
    """Solves instances derived from one instance, until the time is up.

    With `options.deterministic_limit` every solve has that limit and no clock, so that machines agree.
    """

    instance: Instance
    options: SolveOptions
    time_limit_s: float
    started: float = field(default_factory=time.perf_counter)
    references: dict[str, Reference] = field(init=False)
    """what jobs of the original instance are measured against"""

    def __post_init__(self) -> None:
        self.references = references(self.instance)

    @property
    def elapsed_s(self) -> float:
        return time.perf_counter() - self.started

    @property
    def is_late(self) -> bool:
        return self.options.deterministic_limit is None and self.elapsed_s >= self.time_limit_s

    def solve(self, problem: Problem, *, share: float = SHARE, hint: Plan | None = None) -> Result:
        """Solve on a share of the time limit."""
        left_s = self.time_limit_s - self.elapsed_s
        limit_s = max(min(left_s, share * self.time_limit_s), 0.0)
        if self.options.deterministic_limit is not None:
            limit_s = self.time_limit_s
        options = replace(self.options, time_limit_s=limit_s, hint=hint, on_incumbent=None)
        return solve(problem, options=options)

    def answer(self, instance: Instance, *, fixed: Collection[str] = (), any_plan: bool = False) -> Answer:
        """Whether all that must run can run, with the most valuable plan that the time allows, or with any.

        Residents in `fixed` keep their configuration.
        """
        if self.is_late:
            return Answer(None)
        objective: ObjectiveName = "moves" if any_plan else "value"
        problem = _within_reach(expand_as(with_objectives(instance, objective), self.references, fixed=fixed))
        if any(options.must_run and not len(options) for options in problem.options):
            return Answer(False)
        if any_plan:
            quick = solve(problem, policy="best_fit", options=replace(self.options, on_incumbent=None))
            if quick.plan is not None:
                return Answer(True, quick.plan)
        return Answer.of(self.solve(problem))


def _within_reach(problem: Problem) -> Problem:
    """Without the candidates that need more devices than jobs that must stay leave free: no plan has them.

    A proof by count that spares the solver most of its work where little is free.
    """
    held = sum(int(o.candidates.num_devices[0]) for o in problem.options if o.must_stay)
    free = problem.cluster.num_healthy - held
    options = []
    for job in problem.options:
        mask = job.candidates.num_devices <= free
        if job.current is not None:
            mask[job.current] = True
        options.append(job.take(np.flatnonzero(mask)))
    return replace(problem, options=tuple(options))

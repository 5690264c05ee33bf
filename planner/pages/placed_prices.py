"""Candidates priced by placed steps: as their tensors were placed, else by a time that no places go below."""

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from costmodel.dataflow.networks.rank_step import PLACED, RankStep, rank_step
from costmodel.parallelism.configuration import Configuration
from costmodel.pricing import other_steps
from planner.candidates.expand import utility
from planner.fabrics.problem import JobOptions, Problem
from planner.model.plan import SecondTier
from planner.model.rank_step import PageCase
from planner.pages.cpsat.relaxation import relax
from planner.pages.problem import PageProblem

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
LONGEST = 2.0
"""of the scored step: no longer one matters to the linear bound"""


@dataclass
class JobPrices:
    """What is known of the placed steps of one job's rows, shape (C,)."""

    options: JobOptions
    """as scored"""
    step_s: Floats = field(init=False)
    """bound on the placed step, or that of the best places known"""
    is_bounded: Bools = field(init=False)
    """whether the linear bound of the row was asked for"""
    tiers: dict[int, SecondTier] = field(default_factory=dict)
    """places by row, where they were searched for"""

    def __post_init__(self) -> None:
        scores = self.options.scores
        self.step_s = np.where(self.is_placed, scores.step_s - scores.offload_s, scores.step_s)
        self.is_bounded = np.zeros(len(self.options), np.bool_)

    @cached_property
    def is_placed(self) -> Bools:
        """Rows of training that offload."""
        rows = self.options.candidates
        is_training = isinstance(rows.workload, PLACED)
        has_tier = np.array([split.device.offload is not None for split in rows.splits], np.bool_)[rows.split]
        return np.asarray(is_training & has_tier & (rows.mappings.offload[rows.mapping] > 0))

    def step(self, row: int) -> RankStep:
        """What one rank of a row executes."""
        found = rank_step(self.options.candidates, self.options.scores, row)
        assert found is not None
        return found

    def bound(self, row: int, time_limit_s: float) -> bool:
        """Raise the bound of a row by the linear relaxation of its places; whether that changed it."""
        self.is_bounded[row] = True
        step = self.step(row)
        found = relax(PageProblem.of_case(PageCase.of_rank("", step)), [LONGEST * step.scored_s], time_limit_s)
        if found is None or found.bound_s <= self.step_s[row] * (1 + 1e-9):
            return False
        self.step_s[row] = found.bound_s
        return True

    def settle(self, row: int, tier: SecondTier) -> None:
        """The row takes the step of these places from now on."""
        self.tiers[row] = tier
        self.step_s[row] = tier.step_s

    @property
    def asks(self) -> tuple[str, tuple[int, ...], Configuration | None]:
        """Jobs with the same have the same rows."""
        job = self.options.job
        return job.listing_json, job.sizes, getattr(job, "configuration", None)

    def take(self, other: "JobPrices", row: int) -> None:
        """What another job with the same rows knows of one."""
        self.step_s[row], self.is_bounded[row] = other.step_s[row], other.is_bounded[row]
        if row in other.tiers:
            self.tiers[row] = other.tiers[row]

    def priced(self, *, is_optimistic: bool = False) -> JobOptions:
        """The options with these steps; `is_optimistic`: where places are not proven best, with their bound."""
        step_s = self.step_s.copy()
        for row, tier in self.tiers.items() if is_optimistic else ():
            step_s[row] = tier.step_s if tier.is_proven else min(tier.bound_s, tier.step_s)
        return with_steps(self.options, step_s)


def with_steps(options: JobOptions, step_s: Floats) -> JobOptions:
    """The options where rows take other steps: what is drawn at all times is drawn for as long, all else stays."""
    own = other_steps.with_steps(options.scores, step_s)
    weight, reference = options.job.weight, options.reference
    value = weight * utility(options.job, own.speed / reference.speed)
    energy = weight * own.energy_per_work_j / reference.energy_per_work
    return replace(options, scores=own, value=value, energy=energy)


def priced(problem: Problem, jobs: list[JobPrices], *, is_optimistic: bool = False) -> Problem:
    """The problem at what is known of placed steps."""
    return Problem(problem.instance, tuple(each.priced(is_optimistic=is_optimistic) for each in jobs))

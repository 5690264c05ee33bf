"""Candidates priced by placed steps: as their tensors were placed, else by a time that no places go below."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from costmodel.dataflow.networks.rank_step import PLACED, RankStep
from costmodel.dataflow.networks.trained import Trained
from costmodel.hardware.device import Device
from costmodel.parallelism.configuration import Configuration
from costmodel.pricing import other_steps
from planner.candidates.expand import utility
from planner.fabrics.problem import JobOptions, Problem
from planner.model.plan import SecondTier
from planner.model.result import relative_gap
from planner.pages.result import PROVEN

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
UNKNOWN = 4.0
"""times the least step: what a row whose places are not known counts as where there is no time to find them"""
View = Literal["found", "known", "bound"]
"""rows whose tensors were placed take that step, in `bound` the least that it may be; all others take the least, in
`known` one so long that they are chosen where nothing else can be"""


@dataclass
class JobPrices:
    """What is known of the placed steps of one job's rows, shape (C,)."""

    options: JobOptions
    """as scored"""
    device: Device
    """of the cluster"""
    least_s: Floats = field(init=False)
    """that no places go below"""
    tiers: dict[int, SecondTier] = field(default_factory=dict)
    """places by row, where they were searched for"""

    def __post_init__(self) -> None:
        scores, is_placed = self.options.scores, self.is_placed
        least_s = self._trained.least_step_s() if is_placed.any() else scores.step_s
        self.least_s = np.where(is_placed, least_s, scores.step_s)

    @cached_property
    def is_placed(self) -> Bools:
        """Rows of training that offload."""
        rows = self.options.candidates
        is_training = isinstance(rows.workload, PLACED)
        has_tier = np.array([split.device.offload is not None for split in rows.splits], np.bool_)[rows.split]
        return np.asarray(is_training & has_tier & (rows.mappings.offload[rows.mapping] > 0))

    @cached_property
    def _trained(self) -> Trained:
        options = self.options
        return Trained.of(options.candidates, options.scores, self.device, options.fabric)

    def step(self, row: int) -> RankStep:
        """What one rank of a row executes."""
        found = self._trained.rank_step(row)
        assert found is not None
        return found

    def settle(self, row: int, tier: SecondTier) -> None:
        """The row takes the step of these places from now on; its bound is the better of two."""
        bound_s = min(max(tier.bound_s, float(self.least_s[row])), tier.step_s)
        gap = relative_gap(tier.step_s, bound_s)
        is_proven = tier.is_proven or (gap is not None and gap <= PROVEN)
        self.tiers[row] = tier.model_copy(update={"bound_s": bound_s, "is_proven": is_proven})

    @property
    def asks(self) -> tuple[str, tuple[int, ...], Configuration | None]:
        """Jobs with the same have the same rows."""
        job = self.options.job
        return job.listing_json, job.sizes, getattr(job, "configuration", None)

    def value(self, configuration: Configuration) -> float:
        """Of a listed configuration whose step is known."""
        row = self.options.row_of(configuration)
        assert row is not None
        assert row in self.tiers or not self.is_placed[row]
        return float(self.priced("found").value[row])

    def priced(self, view: View) -> JobOptions:
        """The options with the steps of a view."""
        step_s = self.least_s * np.where(self.is_placed & (view == "known"), UNKNOWN, 1.0)
        for row, tier in self.tiers.items():
            step_s[row] = tier.bound_s if view == "bound" else tier.step_s
        return with_steps(self.options, step_s)


def with_steps(options: JobOptions, step_s: Floats) -> JobOptions:
    """The options where rows take other steps: what is drawn at all times is drawn for as long, all else stays."""
    own = other_steps.with_steps(options.scores, step_s)
    weight, reference = options.job.weight, options.reference
    value = weight * utility(options.job, own.speed / reference.speed)
    energy = weight * own.energy_per_work_j / reference.energy_per_work
    return replace(options, scores=own, value=value, energy=energy)


def priced(problem: Problem, jobs: list[JobPrices], view: View) -> Problem:
    """The problem at what is known of placed steps."""
    return Problem(problem.instance, tuple(each.priced(view) for each in jobs))


def are_proven(jobs: list[JobPrices]) -> bool:
    """Whether all rows whose tensors were placed have the best places."""
    return all(tier.is_proven for each in jobs for tier in each.tiers.values())

"""Demand drawn from few numbers: sizes, durations by size, bursts of one tenant, and the hour of the day."""

import importlib.resources
from functools import cached_property
from itertools import pairwise
from math import log, prod, sqrt
from pathlib import Path
from typing import Annotated, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from costmodel.spec import Seconds, Spec
from planner.model import files
from planner.model.instance import default_sizes
from planner.model.job import MOST_ACCELERATORS
from planner.placement.asked_box import box_named
from planner.simulate.trace import Trace

Floats = NDArray[np.float64]
DAY_S = 86400.0
Probability = Annotated[float, Field(ge=0, le=1)]
Share = Annotated[float, Field(ge=0)]


class Durations(Spec):
    """Durations of jobs of some sizes."""

    up_to: int | None = Field(default=None, ge=1)
    """largest of these sizes; none for all that are left"""
    seconds: dict[Probability, Annotated[float, Field(gt=0)]] = Field(min_length=2)
    """quantiles by probability, 0 and 1 among them; between them the logarithm is interpolated"""

    @model_validator(mode="after")
    def _is_distribution(self) -> Self:
        given = sorted(self.seconds.items())
        if given[0][0] != 0 or given[-1][0] != 1:
            raise ValueError("seconds: give the quantiles of probability 0 and 1 too")
        if any(a[1] > b[1] for a, b in pairwise(given)):
            raise ValueError("seconds: quantiles must not fall as the probability grows")
        return self

    def at(self, probability: Floats) -> Floats:
        """Seconds at each probability."""
        given = sorted(self.seconds.items())
        return np.exp(np.interp(probability, [p for p, _ in given], [log(s) for _, s in given]))


class Burst(Spec):
    """Jobs that one tenant submits one after the other; their number is a rounded-up log-normal one."""

    jobs: float = Field(ge=1)
    """mean number"""
    dispersion: float = Field(ge=1)
    """mean square of the number over its mean: how many jobs the burst of a job has on average"""
    gap_s: Seconds = Field(ge=0)
    """mean time from job to job, exponential"""

    @model_validator(mode="after")
    def _has_spread(self) -> Self:
        if self.dispersion < self.jobs:
            raise ValueError(
                f"dispersion: {self.dispersion} is below the mean of {self.jobs:g} jobs; give at least that"
            )
        return self

    def draw(self, number: int, generator: np.random.Generator) -> NDArray[np.int64]:
        """Jobs of so many bursts."""
        if self.jobs == 1:
            return np.ones(number, dtype=np.int64)
        mean = max(self.jobs - 0.5, 0.5)
        variance = log(max(self.dispersion / self.jobs, 1.0))
        return np.ceil(generator.lognormal(log(mean) - variance / 2, sqrt(variance), number)).astype(np.int64)


class DemandModel(Spec):
    """Demand to draw: bursts arrive by chance, more of them around the peak of each day."""

    name: str
    source: str = ""
    sizes: dict[Annotated[int, Field(ge=1, le=MOST_ACCELERATORS)], Share] | None = None
    """relative frequency of each number of accelerators; default: the jobs of a public trace"""
    slices: dict[str, Share] | None = None
    """instead of `sizes`: relative frequency of each box of a torus, such as 4x4x8; elsewhere it is a size"""
    durations: tuple[Durations, ...] = Field(min_length=1)
    """by size, ascending"""
    mean_gap_s: Seconds = Field(gt=0)
    """from job to job over all tenants"""
    burst: Burst = Burst(jobs=1, dispersion=1, gap_s=0)
    daily_swing: float = Field(default=0.0, ge=0, le=1)
    """arrivals follow 1 + swing x cos(2 pi (t - peak) / day)"""
    daily_peak_s: Seconds = 0.0
    """time of the day with the most arrivals"""
    tenants: dict[str, Share] = Field(default={"default": 1.0}, min_length=1)
    """relative number of jobs of each"""

    @model_validator(mode="after")
    def _is_complete(self) -> Self:
        limits = [each.up_to for each in self.durations]
        known = [limit for limit in limits if limit is not None]
        if limits[-1] is not None or len(known) != len(limits) - 1 or known != sorted(set(known)):
            raise ValueError("durations: give them by ascending `up_to`, the last one without")
        if self.slices is not None and self.sizes is not None:
            raise ValueError("slices: give these or sizes, not both")
        for box in map(box_named, self.slices or ()):
            if prod(box) > MOST_ACCELERATORS:
                raise ValueError(f"slices: {'x'.join(map(str, box))} has more than {MOST_ACCELERATORS} accelerators")
        of_jobs = self.shares if self.slices is None else self.slices
        for field, shares in (("sizes" if self.slices is None else "slices", of_jobs), ("tenants", self.tenants)):
            if sum(shares.values()) <= 0:
                raise ValueError(f"{field}: all shares are 0; give at least one above")
        return self

    @cached_property
    def shares(self) -> dict[int, float]:
        """Relative frequency of each size."""
        if self.slices is not None:
            by_size: dict[int, float] = {}
            for name, share in self.slices.items():
                by_size[prod(box_named(name))] = by_size.get(prod(box_named(name)), 0.0) + share
            return by_size
        return dict(self.sizes) if self.sizes is not None else default_sizes()

    @property
    def shapes(self) -> list[str]:
        """Boxes that jobs ask for."""
        return sorted(name for name, share in (self.slices or {}).items() if share > 0)

    def draw(self, jobs: int, seed: int) -> Trace:
        """So many jobs from time 0 on; the same seed gives the same jobs."""
        streams = [np.random.default_rng([seed, 3, number]) for number in range(4)]
        arrival_s, tenant = self._arrivals(jobs, streams[0])
        size, shape = self._asked(jobs, streams[1])
        numbers = np.arange(1, jobs + 1)
        return Trace(
            name=self.name,
            arrival_s=arrival_s,
            duration_s=self._durations(size, streams[2].random(jobs)),
            num_gpus=size,
            tenant=tenant,
            workload=np.full(jobs, ""),
            priority=np.zeros(jobs, dtype=np.int64),
            line=numbers,
            shape=shape,
        )

    def _asked(self, jobs: int, generator: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.str_] | None]:
        """Size of each job, and the box that it asks for where any does."""
        shares = self.shares if self.slices is None else self.slices
        weights = np.array(list(shares.values()))
        number = generator.choice(len(weights), jobs, p=weights / weights.sum())
        if self.slices is None:
            return np.array(list(shares), dtype=np.int64)[number], None
        volumes = [prod(box_named(name)) for name in self.slices]
        return np.array(volumes, dtype=np.int64)[number], np.array(list(self.slices))[number]

    def _durations(self, size: NDArray[np.int64], probability: Floats) -> Floats:
        seconds = np.zeros(len(size))
        for each in reversed(self.durations):
            of_class = size <= (each.up_to or MOST_ACCELERATORS)
            seconds[of_class] = each.at(probability[of_class])
        return seconds

    def _arrivals(self, jobs: int, generator: np.random.Generator) -> tuple[Floats, NDArray[np.str_]]:
        """Times and tenants of the first so many jobs."""
        number = np.zeros(0, dtype=np.int64)
        while number.sum() < jobs:
            number = np.concatenate([number, self.burst.draw(jobs, generator)])
        bursts = int(np.searchsorted(np.cumsum(number), jobs)) + 1
        number = number[:bursts]
        start_s = self._in_daylight(np.cumsum(generator.exponential(self.mean_gap_s * number.mean(), bursts)))
        gaps_s = generator.exponential(self.burst.gap_s, int(number.sum()))
        first = np.cumsum(number) - number
        since_s = np.cumsum(gaps_s)
        arrival_s = np.repeat(start_s, number) + since_s - np.repeat(since_s[first], number)
        shares = np.array(list(self.tenants.values()))
        owner = generator.choice(np.array(list(self.tenants)), bursts, p=shares / shares.sum())
        order = np.argsort(arrival_s, kind="stable")[:jobs]
        return arrival_s[order], np.repeat(owner, number)[order]

    def _in_daylight(self, steady_s: Floats) -> Floats:
        """Times of a steady stream moved so that the rate swings with the day."""
        if self.daily_swing == 0:
            return steady_s
        clock_s = np.arange(0.0, steady_s[-1] + 2 * DAY_S, DAY_S / 96)
        turn = 2 * np.pi / DAY_S
        wave = np.sin(turn * (clock_s - self.daily_peak_s)) + np.sin(turn * self.daily_peak_s)
        return np.interp(steady_s, clock_s + self.daily_swing / turn * wave, clock_s)


def load_demand(path: Path | None = None) -> DemandModel:
    """A model from a file, or the catalog's."""
    if path is not None:
        return files.load(DemandModel, path)
    text = importlib.resources.files("planner.catalog").joinpath("demand.json").read_text("utf-8")
    return files.validate(DemandModel, files.parse_text(text, "demand.json"), "demand.json")

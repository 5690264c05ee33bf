"""Scores of the configurations that a job may have, from the cost model."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from costmodel.fabrics import GroupPlan
from costmodel.parallelism.configuration import Collective, Configuration
from costmodel.parallelism.degrees import RANK_ORDERS
from costmodel.parallelism.described import division_of
from costmodel.parallelism.mappings import DIMENSIONS
from costmodel.pricing.candidates import Candidates, candidates_of
from costmodel.pricing.limits import Limits
from costmodel.pricing.listing import priced
from costmodel.pricing.score import Scores, score
from costmodel.pricing.scored_together import score_together
from planner.checks.answers import Answers
from planner.model.cluster import Cluster
from planner.model.instance import Instance
from planner.model.job import Job, Resident

ROUNDING = 1e-9
"""relative; times of one configuration may differ in the last digits with the rows they are priced among"""


@dataclass(frozen=True)
class Price:
    """Score of one configuration of a job, and its plans along each dimension, in each phase where it changes."""

    speed: float
    step_s: float
    energy_per_work: float
    power_w: float
    ttft_s: float
    """NaN where nobody waits for tokens, as the next one"""
    tpot_s: float
    by_phase: tuple[tuple[GroupPlan, ...], ...]


@dataclass(frozen=True)
class Offers:
    """The listing of the cost model for all jobs that differ in sizes alone."""

    candidates: Candidates
    best: Mapping[int, tuple[float, float]]
    """highest speed and least energy per unit of work by size"""

    def lists(self, configuration: Configuration) -> bool:
        """True if a candidate is written exactly like this."""
        rows = self.candidates
        choice = configuration.choice(rows.workload.menus())
        same = (rows.block == configuration.block) & (rows.order == RANK_ORDERS.index(configuration.rank_order))
        same = same & rows.mappings.where(choice)[rows.mapping]
        same = same & (rows.has_phases == (configuration.first_phase is not None))
        settings = configuration.by_phase
        for setting, phase in ((settings[0], rows.in_first_phase()), (settings[-1], rows.in_last_phase())):
            same = same & self._is_setting(setting, phase)
        return bool(same.any())

    @cached_property
    def _plans(self) -> Mapping[Collective, Sequence[int]]:
        """Numbers of the plans that are written alike."""
        found: dict[Collective, list[int]] = {}
        for number, plan in enumerate(self.candidates.plans):
            found.setdefault(Collective.of(plan), []).append(number)
        return found

    def _is_setting(self, configuration: Configuration, rows: Candidates) -> NDArray[np.bool_]:
        """Which rows divide and use their I/O like this, shape (C,)."""
        same = np.array([division_of(split) == configuration.division for split in rows.splits], np.bool_)[rows.split]
        for axis, dimension in enumerate(DIMENSIONS):
            is_alike = np.zeros(len(rows.plans), np.bool_)
            is_alike[self._plans.get(getattr(configuration, f"{dimension}_collective"), [])] = True
            same = same & is_alike[rows.plan[axis]]
        return same


@dataclass(frozen=True)
class _Question:
    """All that listing depends on, by its texts; the objects come along."""

    texts: tuple[str, str, str]
    sizes: tuple[int, ...]
    job: Job = field(compare=False)
    cluster: Cluster = field(compare=False)


def price(instance: Instance, job: Job, configuration: Configuration) -> Price | None:
    """Score of a configuration; None where the workload or the fabric has no such configuration."""
    known = _prices(_pricing(instance.cluster, job))
    return known.of(configuration, lambda: _price(configuration, job, instance.cluster))


def _price(configuration: Configuration, job: Job, cluster: Cluster) -> Price | None:
    [(_, rows)] = _tables([configuration], job, cluster)
    return None if rows is None else _prices_of(rows, score(rows, cluster.device, cluster.fabric))[0]


def price_together(instance: Instance, configurations: Iterable[tuple[Job, Configuration]]) -> None:
    """Score many configurations at once, those of a workload together, for those who ask for their prices later."""
    cluster = instance.cluster
    asked: dict[tuple[str, str], tuple[Job, dict[int, Configuration]]] = {}
    for job, configuration in configurations:
        asked.setdefault(_pricing(cluster, job), (job, {}))[1][id(configuration)] = configuration
    tables, priced_of = list[Candidates](), list[tuple[Answers[Price | None], Sequence[Configuration]]]()
    for texts, (job, wanted) in asked.items():
        known = _prices(texts)
        missing = [each for each in dict.fromkeys(wanted.values()) if not known.has(each)]
        for some, rows in _tables(missing, job, cluster):
            if rows is None:
                known.put(some[0], None)
            else:
                tables.append(rows)
                priced_of.append((known, some))
    scored = score_together(tables, cluster.device, cluster.fabric)
    for (known, some), rows, scores in zip(priced_of, tables, scored, strict=True):
        for configuration, found in zip(some, _prices_of(rows, scores), strict=True):
            known.put(configuration, found)


def fastest_and_least(instance: Instance, job: Job) -> tuple[float | None, float | None]:
    """Highest speed and least energy per unit of work of what is listed for a job; None where nothing is.

    Of a resident the current configuration counts, listed or not.
    """
    fastest, least = _fastest_and_least(_listing(instance, job), job.sizes)
    if isinstance(job, Resident) and (current := price(instance, job, job.configuration)):
        fastest = current.speed if fastest is None else max(fastest, current.speed)
        least = current.energy_per_work if least is None else min(least, current.energy_per_work)
    return fastest, least


@lru_cache(maxsize=4096)
def _fastest_and_least(question: _Question, sizes: tuple[int, ...]) -> tuple[float | None, float | None]:
    best = _offers(question).best
    found = [best[size] for size in sizes if size in best]
    return max((speed for speed, _ in found), default=None), min((energy for _, energy in found), default=None)


def is_listed(instance: Instance, job: Job, configuration: Configuration) -> bool:
    """True if a candidate of the job is written exactly like this."""
    question = _listing(instance, job)
    return configuration.num_devices in job.sizes and _listed(question).of(
        configuration, lambda: _offers(question).lists(configuration)
    )


def _pricing(cluster: Cluster, job: Job) -> tuple[str, str]:
    return job.workload_json, cluster.parts_json


def _listing(instance: Instance, job: Job) -> _Question:
    """Jobs that differ in sizes alone are asked for together."""
    cluster, limits = instance.cluster, job.constraints_json
    sizes = _together(instance.sizes_asked.get((job.workload_json, limits), ()), job.sizes)
    return _Question((*_pricing(cluster, job), limits), sizes, job, cluster)


@lru_cache(maxsize=256)
def _together(sizes: tuple[int, ...], others: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sorted({*sizes, *others}))


@lru_cache(maxsize=256)
def _prices(texts: tuple[str, str]) -> Answers[Price | None]:
    """Prices found so far of one workload on one cluster."""
    return Answers()


def _tables(
    configurations: Sequence[Configuration], job: Job, cluster: Cluster
) -> list[tuple[Sequence[Configuration], Candidates | None]]:
    """Rows of configurations of one workload; one by one where one of them is none of the workload or the fabric, of
    which there are none."""
    if not configurations:
        return []
    device, fabric = cluster.device, cluster.fabric
    try:
        if any(configuration.num_devices > fabric.num_devices for configuration in configurations):
            raise ValueError
        return [(configurations, candidates_of(configurations, job.workload, device, fabric))]
    except (ValueError, OverflowError):
        if len(configurations) == 1:
            return [(configurations, None)]
        return [table for each in configurations for table in _tables([each], job, cluster)]


def _prices_of(rows: Candidates, scores: Scores) -> list[Price]:
    """Prices of rows with these scores."""
    phases = rows.in_first_phase(), rows.in_last_phase()
    return [
        Price(
            speed=float(scores.speed[row]),
            step_s=float(scores.step_s[row]),
            energy_per_work=float(scores.energy_per_work_j[row]),
            power_w=float(scores.power_w[row]),
            ttft_s=float(scores.ttft_s[row]),
            tpot_s=float(scores.tpot_s[row]),
            by_phase=tuple(tuple(each.row_plans(row)) for each in (phases if rows.has_phases[row] else (rows,))),
        )
        for row in range(len(rows))
    ]


def missed(job: Job, ttft_s: float, tpot_s: float) -> list[str]:
    """Limits of a job's workload on the times that its users wait which such times miss, in words."""
    limits = job.workload.limits
    if limits is None:
        return []
    times = ("first token", ttft_s, limits.ttft_s), ("next token", tpot_s, limits.tpot_s)
    return [
        f"its {name} takes {1e3 * time_s:.4g} ms, its limit is {1e3 * limit_s:.4g} ms"
        for name, time_s, limit_s in times
        if limit_s is not None and not time_s <= limit_s * (1 + ROUNDING)
    ]


@lru_cache(maxsize=256)
def _listed(question: _Question) -> Answers[bool]:
    """Which configurations are listed, as far as they were asked for."""
    return Answers()


@lru_cache(maxsize=256)
def _offers(question: _Question) -> Offers:
    job, device, fabric, limits = (
        question.job,
        question.cluster.device,
        question.cluster.fabric,
        question.job.constraints,
    )
    rows, scores = priced(
        job.workload,
        [size for size in question.sizes if size <= fabric.most_devices_of_a_job],
        device,
        fabric,
        Limits.of(limits),
    )
    if job.workload.limits is not None:
        waits = zip(scores.ttft_s.tolist(), scores.tpot_s.tolist(), strict=True)
        in_time = np.array([not missed(job, *each) for each in waits], np.bool_)
        rows, scores = rows.take(np.flatnonzero(in_time)), scores.take(np.flatnonzero(in_time))
    sizes, of = np.unique(rows.num_devices, return_inverse=True)
    fastest, least = np.full(len(sizes), -np.inf), np.full(len(sizes), np.inf)
    np.maximum.at(fastest, of, scores.speed)
    np.minimum.at(least, of, scores.energy_per_work_j)
    return Offers(rows, dict(zip(sizes.tolist(), zip(fastest.tolist(), least.tolist(), strict=True), strict=True)))

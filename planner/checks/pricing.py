"""Scores of the configurations that a job may have, from the cost model."""

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from costmodel.fabrics import GroupPlan
from costmodel.parallelism.configuration import Collective, Configuration
from costmodel.parallelism.degrees import RANK_ORDERS
from costmodel.parallelism.mappings import DIMENSIONS
from costmodel.pricing.candidates import Candidates, candidates_of, enumerate_candidates
from costmodel.pricing.phases import with_phases
from costmodel.pricing.score import score
from costmodel.spec import Spec
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
    """The listing of the cost model for a job; a resident's current configuration counts for the best."""

    candidates: Candidates
    fastest: float | None
    """None where nothing is listed"""
    least_energy_per_work: float | None

    def lists(self, configuration: Configuration) -> bool:
        """True if a candidate is written exactly like this."""
        rows = self.candidates
        choice = configuration.choice(rows.workload.menus())
        same = (rows.block == configuration.block) & (rows.order == RANK_ORDERS.index(configuration.rank_order))
        same = same & rows.mappings.where(choice)[rows.mapping]
        same = same & (rows.has_phases == (configuration.first_phase is not None))
        settings = configuration.by_phase
        for setting, phase in ((settings[0], rows.in_first_phase()), (settings[-1], rows.in_last_phase())):
            same = same & _is_setting(setting, phase)
        return bool(same.any())


def _is_setting(configuration: Configuration, rows: Candidates) -> NDArray[np.bool_]:
    """Which rows divide and use their I/O like this, shape (C,)."""
    wanted = configuration.memory_units, configuration.memory_io
    splits = [number for number, s in enumerate(rows.splits) if (s.memory_units, s.memory_io) == wanted]
    same = np.isin(rows.split, splits)
    for axis, dimension in enumerate(DIMENSIONS):
        asked = getattr(configuration, f"{dimension}_collective")
        same = same & np.array([Collective.of(plan) == asked for plan in rows.plans], dtype=bool)[rows.plan[axis]]
    return same


@dataclass(frozen=True)
class _Question:
    """All that listing or pricing depends on, by its text; the objects come along."""

    text: str
    job: Job = field(compare=False)
    cluster: Cluster = field(compare=False)


def _question(instance: Instance, job: Job) -> _Question:
    cluster = instance.cluster
    parts: list[Spec] = [job.workload, cluster.device, cluster.fabric, job.constraints]
    if isinstance(job, Resident):
        parts.append(job.configuration)
    text = "\n".join([*(part.model_dump_json() for part in parts), repr(job.sizes)])
    return _Question(text, job, cluster)


def price(instance: Instance, job: Job, configuration: Configuration) -> Price | None:
    """Score of a configuration; None where the workload or the fabric has no such configuration."""
    return _price(_question(instance, job), configuration)


def offers(instance: Instance, job: Job) -> Offers:
    """The candidates listed for a job, of sizes that a rack has tiles for, or the cluster where racks are linked."""
    return _offers(_question(instance, job))


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


@lru_cache(maxsize=4096)
def _price(question: _Question, configuration: Configuration) -> Price | None:
    device, fabric = question.cluster.device, question.cluster.fabric
    if configuration.num_devices > fabric.num_devices:
        return None
    try:
        row = candidates_of([configuration], question.job.workload, device, fabric)
    except (ValueError, OverflowError):
        return None
    scores = score(row, device, fabric)
    return Price(
        speed=float(scores.speed[0]),
        step_s=float(scores.step_s[0]),
        energy_per_work=float(scores.energy_per_work_j[0]),
        power_w=float(scores.power_w[0]),
        ttft_s=float(scores.ttft_s[0]),
        tpot_s=float(scores.tpot_s[0]),
        by_phase=tuple(
            tuple(each.row_plans(0))
            for each in ((row.in_first_phase(), row.in_last_phase()) if row.has_phases[0] else (row,))
        ),
    )


@lru_cache(maxsize=256)
def _offers(question: _Question) -> Offers:
    job, device, fabric = question.job, question.cluster.device, question.cluster.fabric
    limits = job.constraints
    room = fabric.most_devices_of_a_job
    rows = enumerate_candidates(
        job.workload,
        [size for size in job.sizes if size <= room],
        device,
        fabric,
        one_server=limits.one_server,
        per_server=limits.per_server,
        collective=limits.collective,
    )
    if limits.one_setting:
        scores = score(rows, device, fabric)
    else:
        rows, scores = with_phases(rows, device, fabric)
    if job.workload.limits is not None:
        waits = zip(scores.ttft_s.tolist(), scores.tpot_s.tolist(), strict=True)
        in_time = np.array([not missed(job, *each) for each in waits], np.bool_)
        rows, scores = rows.take(np.flatnonzero(in_time)), scores.take(np.flatnonzero(in_time))
    speeds, energies = [], []
    if len(rows):
        speeds, energies = [float(scores.speed.max())], [float(scores.energy_per_work_j.min())]
    if isinstance(job, Resident) and (current := _price(question, job.configuration)):
        speeds.append(current.speed)
        energies.append(current.energy_per_work)
    return Offers(rows, max(speeds, default=None), min(energies, default=None))

"""Instance -> Problem: enumerate each job's candidates, score them, drop the dominated ones."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from costmodel.pricing.candidates import Candidates, candidates_of
from costmodel.pricing.limits import Limits
from costmodel.pricing.listing import listed_and_priced
from costmodel.pricing.score import Scores, score
from planner.fabrics import plugin_of
from planner.fabrics.problem import JobOptions, Problem, must_run
from planner.fabrics.residents import lost_parts
from planner.model.clock import Clock
from planner.model.cluster import Cluster
from planner.model.errors import InputError
from planner.model.instance import Instance
from planner.model.job import Job, Reference, Resident

Floats = NDArray[np.float64]
Known = dict[str, tuple[Candidates, Scores]]
"""candidates with their scores by what a job asks for"""
ROUNDING = 1e-9
"""relative; speeds of one configuration may differ in the last digits with the rows they are scored among"""


def expand(instance: Instance, *, prune: bool = True, clock: Clock | None = None, last: Clock | None = None) -> Problem:
    """Candidates of every job with their scores; `prune` drops those that another one dominates.

    When the clock is over, jobs that may wait have a short list, and when the last clock is over, too, none, unless
    another one asked for the same or a bound on their value is not known.
    """
    known, short, kept = Known(), Known(), dict[str, NDArray[np.int64]]()
    found = dict[int, JobOptions]()
    for j in sorted(range(len(instance.all_jobs)), key=lambda j: not must_run(instance.all_jobs[j])):
        job = instance.all_jobs[j]
        if clock is not None and found and clock.is_over and not must_run(job) and _question(job) not in known:
            if (last or clock).is_over and job.reference is None:
                found[j] = _unlisted(job, next(iter(found.values())))
            else:
                found[j] = _listed_shortly(list_options(instance, job, short))
            continue
        listed = list_options(instance, job, known)
        found[j] = _undominated(listed, instance, kept) if prune else listed
    return Problem(instance, tuple(found[j] for j in range(len(found))))


def _listed_shortly(listed: JobOptions) -> JobOptions:
    """The most valuable row for each size, block and share of memory: what finding dominated rows would cost more."""
    c = listed.candidates
    order = np.lexsort((listed.energy, -listed.value))
    keys = np.stack([c.num_devices, c.block, c.split])[:, order]
    first = np.unique(keys, axis=1, return_index=True)[1]
    return replace(listed.take(np.sort(order[first])), is_listed=False)


def _unlisted(job: Job, other: JobOptions) -> JobOptions:
    """No candidates of a job, as nobody looked for them."""
    nothing = replace(other, current=None).take(np.zeros(0, dtype=np.int64))
    return replace(nothing, job=job, num_listed=0, can_stay=False, is_listed=False)


def _undominated(listed: JobOptions, instance: Instance, known: dict[str, NDArray[np.int64]]) -> JobOptions:
    """`known` has the rows that stay of jobs which ask for the same with the same utility: weights change no order."""
    job, kept_rows = listed.job, plugin_of(instance.cluster.fabric).dominance.kept_rows
    if isinstance(job, Resident):
        return listed.take(kept_rows(listed, instance))
    question = f"{_question(job)} {job.utility} {job.step_at} {job.reference}"
    if question not in known:
        known[question] = kept_rows(listed, instance)
    return listed.take(known[question])


def list_options(instance: Instance, job: Job, known: Known | None = None) -> JobOptions:
    """Every candidate of one job, nothing dropped; `known` has those of jobs that ask for the same."""
    cluster, known = instance.cluster, Known() if known is None else known
    question = _question(job)
    if question not in known:
        asked = job.constraints
        known[question] = listed_and_priced(
            job.workload,
            [size for size in job.sizes if size <= cluster.fabric.most_devices_of_a_job],
            cluster.device,
            cluster.fabric,
            Limits(asked.one_server, asked.per_server, asked.collective, asked.one_setting),
        )
    candidates, scores = known[question]
    current, can_stay = None, False
    if isinstance(job, Resident):
        candidates, scores, current = _with_current(cluster, job, candidates, scores)
        can_stay = not lost_parts(cluster, job)
    reference = reference_of(job, scores)
    return JobOptions(
        job=job,
        fabric=cluster.fabric,
        candidates=candidates,
        scores=scores,
        value=job.weight * utility(job, scores.speed / reference.speed),
        energy=job.weight * scores.energy_per_work_j / reference.energy_per_work,
        num_listed=len(candidates),
        current=current,
        can_stay=can_stay,
    )


def _question(job: Job) -> str:
    """All that the candidates of a job depend on, on one cluster."""
    return f"{job.workload.model_dump_json()} {job.sizes} {job.constraints.model_dump_json()}"


def reference_of(job: Job, scores: Scores) -> Reference:
    """Reference of a job: the one of its file, or the fastest and the most frugal of its candidates."""
    if job.reference is not None or not len(scores.speed):
        return job.reference or Reference(speed=1.0, energy_per_work=1.0)
    return Reference(speed=float(scores.speed.max()), energy_per_work=float(scores.energy_per_work_j.min()))


def utility(job: Job, relative: Floats) -> Floats:
    """g(speed over that of the reference), shape (C,)."""
    if job.utility == "sqrt":
        return np.asarray(np.sqrt(relative))
    return np.asarray(
        relative if job.utility == "linear" else (relative >= job.step_at * (1 - ROUNDING)).astype(np.float64)
    )


def _with_current(
    cluster: Cluster, job: Resident, candidates: Candidates, scores: Scores
) -> tuple[Candidates, Scores, int]:
    """The candidates with the resident's current configuration among them, and its row."""
    for row in range(len(candidates)):
        if candidates.configuration(row) == job.configuration:
            return candidates, scores, row
    configurations = [candidates.configuration(row) for row in range(len(candidates))]
    try:
        candidates = candidates_of([*configurations, job.configuration], job.workload, cluster.device, cluster.fabric)
    except ValueError as error:
        raise InputError(f"residents[{job.name}]", "configuration", str(error)) from None
    return candidates, score(candidates, cluster.device, cluster.fabric), len(configurations)

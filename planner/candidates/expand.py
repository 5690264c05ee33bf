"""Instance -> Problem: enumerate each job's candidates, score them, drop the dominated ones."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from costmodel.fabrics import DividedPorts, GroupPlan, Lightpath, OcsRail, Sipam, SlicedFabric
from costmodel.pricing.candidates import Candidates, candidates_of, enumerate_candidates
from costmodel.pricing.phases import with_phases
from costmodel.pricing.score import Scores, score
from planner.fabrics.demand import Demand
from planner.fabrics.ocs_rail.rails import FreeRails
from planner.fabrics.problem import JobOptions, Problem, must_run
from planner.fabrics.residents import lost_parts
from planner.fabrics.sipam.dominance import undominated
from planner.fabrics.sipam.published_loop import loop_rows
from planner.model.clock import Clock
from planner.model.cluster import Cluster
from planner.model.errors import InputError
from planner.model.instance import Instance, Job, Reference, Resident

Floats = NDArray[np.float64]
Known = dict[str, tuple[Candidates, Scores]]
"""candidates with their scores by what a job asks for"""
LitPlans = Mapping[int, tuple[int, tuple[int, ...]]]
ROUNDING = 1e-9
"""relative; speeds of one configuration may differ in the last digits with the rows they are scored among"""
CHUNK = 512
"""rows compared at once with those before them"""


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
    job = listed.job
    if isinstance(job, Resident):
        return listed.take(_kept_rows(listed, instance))
    question = f"{_question(job)} {job.utility} {job.step_at} {job.reference}"
    if question not in known:
        known[question] = _kept_rows(listed, instance)
    return listed.take(known[question])


def _kept_rows(listed: JobOptions, instance: Instance) -> NDArray[np.int64]:
    """Rows that no other row replaces, ascending."""
    if not isinstance(instance.cluster.fabric, Sipam):
        return _without_dominated(listed, instance.cluster)
    by_loop = loop_rows(instance.cluster, listed.job, listed.candidates)
    return undominated(listed, [objective.name for objective in instance.objectives], by_loop)


def list_options(instance: Instance, job: Job, known: Known | None = None) -> JobOptions:
    """Every candidate of one job, nothing dropped; `known` has those of jobs that ask for the same."""
    cluster, known = instance.cluster, Known() if known is None else known
    question = _question(job)
    if question not in known:
        candidates = enumerate_candidates(
            job.workload,
            [size for size in job.sizes if size <= cluster.fabric.most_devices_of_a_job],
            cluster.device,
            cluster.fabric,
            one_server=job.constraints.one_server,
            per_server=job.constraints.per_server,
            collective=job.constraints.collective,
        )
        if job.constraints.one_setting:
            known[question] = candidates, score(candidates, cluster.device, cluster.fabric)
        else:
            known[question] = with_phases(candidates, cluster.device, cluster.fabric)
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
    """What a job is measured against: what its file says, or the fastest and the most frugal of its candidates."""
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


def _without_dominated(options: JobOptions, cluster: Cluster) -> NDArray[np.int64]:
    """All rows but those that another row replaces in every placement at no loss in any objective, ascending.

    Row k' replaces k if both have as many ranks in blocks of the same size, k' has no less value and no more
    energy, and wherever circuits may leave a block (or slots or failed lasers matter) both ask for the same
    circuits, those of k' never wider; of shared appliances k' takes no more. On rails a placement depends on numbers
    of ports alone, on slices on their extent and on how many one server takes together. A resident's current row
    always stays.
    """
    if isinstance(cluster.fabric, OcsRail):
        fewest = FreeRails(cluster).fewest
        asked = [_asked_ports(shape, fewest) for shape in options.shapes]
    else:
        lit = _plans_with_circuits(options.candidates.plans)
        asked = [_asked_light(shape, cluster, lit) for shape in options.shapes]
    groups: dict[object, list[int]] = {}
    for row in sorted(range(len(options)), key=lambda r: (-options.value[r], options.energy[r], sum(asked[r][1]))):
        groups.setdefault(asked[row][0], []).append(row)
    is_replaced = np.zeros(len(options), dtype=np.bool_)
    for rows in groups.values():
        is_replaced[rows] = _after_a_better(options.energy[rows], np.array([asked[row][1] for row in rows]))
    if options.current is not None:
        is_replaced[options.current] = False
    return np.flatnonzero(~is_replaced)


def _after_a_better(energy: Floats, widths: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether some row before each one has no more energy and is nowhere wider, shape (R,); `widths` is (R, W)."""
    after = np.zeros(len(energy), dtype=np.bool_)
    for first in range(1, len(energy), CHUNK):
        last = min(first + CHUNK, len(energy))
        better = energy[:last] <= energy[first:last, None]
        for column in widths.T:
            better &= column[:last] <= column[first:last, None]
        after[first:last] = np.tril(better, first - 1).any(axis=1)
    return after


def _asked_ports(shape: Demand, fewest: int) -> tuple[object, tuple[int, ...]]:
    """What a shape asks of rails: nothing, any rails, or rails with more working switches than the fewest."""
    return (shape.num_ranks, shape.block), (min(shape.num_ports, 1), max(shape.num_ports - fewest, 0))


def _plans_with_circuits(plans: Sequence[GroupPlan]) -> LitPlans:
    """By identity of a plan: a number that plans with the same circuits but for their widths share, and the widths."""
    numbers: dict[object, int] = {}
    lit = [plan for plan in plans if plan.configurations()]
    keys = [numbers.setdefault((p.kind, p.ranks, p.radices, p.held), len(numbers)) for p in lit]
    return {id(plan): (key, tuple(plan.wavelengths)) for plan, key in zip(lit, keys, strict=True)}


def _asked_light(shape: Demand, cluster: Cluster, lit: LitPlans) -> tuple[object, tuple[int, ...]]:
    """What a shape asks of the fabric: a key of its slices or circuits, and how much must lie together or be wide."""
    fabric = cluster.fabric
    if isinstance(fabric, SlicedFabric):
        return (shape.num_ranks, shape.cut), (shape.part,)
    if isinstance(fabric, DividedPorts):
        return (shape.num_ranks, shape.block), (shape.held_units, shape.held_io) if fabric.shared else (0, 0)
    matters = isinstance(fabric, Lightpath) and (fabric.slots_matter or cluster.has_failed_light)
    confined = (shape.block % shape.tensor == 0, *2 * (shape.block == shape.num_ranks,))
    plans = [
        lit[id(plan)]
        for plan, is_confined in zip(shape.plans, confined, strict=True)
        if id(plan) in lit and (matters or not is_confined)
    ]
    degrees = shape.degrees if plans else ()
    return (shape.num_ranks, shape.block, degrees, *(key for key, _ in plans)), sum((w for _, w in plans), ())

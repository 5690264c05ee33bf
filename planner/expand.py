"""Instance -> Problem: enumerate each job's candidates, score them, drop the dominated ones."""

import numpy as np
from numpy.typing import NDArray

from costmodel.candidates import Candidates, candidates_of, enumerate_candidates
from costmodel.fabrics import FabricBase, Lightpath
from costmodel.score import Scores, score
from planner.cluster import Cluster
from planner.demand import Shape
from planner.errors import InputError
from planner.instance import Instance, Job, Resident
from planner.problem import JobOptions, Problem
from planner.residents import lost_parts

Floats = NDArray[np.float64]


def expand(instance: Instance, *, prune: bool = True) -> Problem:
    """Candidates of every job with their scores; `prune` drops those that another one dominates."""
    options = []
    for job in instance.all_jobs:
        listed = list_options(instance, job)
        options.append(_without_dominated(listed, instance.cluster.fabric) if prune else listed)
    return Problem(instance, tuple(options))


def list_options(instance: Instance, job: Job) -> JobOptions:
    """Every candidate of one job, nothing dropped."""
    cluster = instance.cluster
    candidates = enumerate_candidates(
        job.workload,
        [size for size in job.sizes if size <= cluster.fabric.most_devices_of_a_job],
        cluster.device,
        cluster.fabric,
        one_server=job.constraints.one_server,
        collective=job.constraints.collective,
    )
    scores = score(candidates, cluster.device, cluster.fabric)
    current, can_stay = None, False
    if isinstance(job, Resident):
        candidates, scores, current = _with_current(cluster, job, candidates, scores)
        can_stay = not lost_parts(cluster, job)
    energy = scores.energy_per_work_j
    return JobOptions(
        job=job,
        fabric=cluster.fabric,
        candidates=candidates,
        scores=scores,
        value=job.weight * utility(job, scores.speed / scores.speed.max(initial=0.0)),
        energy=job.weight * energy / energy.min(initial=np.inf),
        num_listed=len(candidates),
        current=current,
        can_stay=can_stay,
    )


def utility(job: Job, relative: Floats) -> Floats:
    """g(speed over the fastest speed), shape (C,)."""
    if job.utility == "sqrt":
        return np.asarray(np.sqrt(relative))
    return np.asarray(relative if job.utility == "linear" else (relative >= job.step_at).astype(np.float64))


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


def _without_dominated(options: JobOptions, fabric: FabricBase) -> JobOptions:
    """Drop each row that another row replaces in every placement at no loss in any objective.

    Row k' replaces k if both have as many ranks in blocks of the same size, k' has no less value and no more
    energy, and wherever circuits may leave a block (or slots matter) both ask for the same circuits, those of
    k' never wider. A resident's current row always stays.
    """
    asked = [_asked_light(shape, fabric) for shape in options.shapes]
    groups: dict[object, list[int]] = {}
    kept: list[int] = []
    for row in sorted(range(len(options)), key=lambda r: (-options.value[r], options.energy[r], sum(asked[r][1]))):
        key, widths = asked[row]
        rivals = groups.setdefault(key, [])
        is_replaced = any(
            options.energy[rival] <= options.energy[row]
            and all(w <= v for w, v in zip(asked[rival][1], widths, strict=True))
            for rival in rivals
        )
        if row == options.current or not is_replaced:
            rivals.append(row)
            kept.append(row)
    return options.take(np.array(sorted(kept), dtype=np.int64))


def _asked_light(shape: Shape, fabric: FabricBase) -> tuple[object, tuple[int, ...]]:
    """What a shape asks of the fabric: a key of its circuits, and their widths."""
    matters = isinstance(fabric, Lightpath) and fabric.slots_matter
    confined = (shape.block % shape.tensor == 0, *2 * (shape.block == shape.num_ranks,))
    plans = [
        plan
        for plan, is_confined in zip(shape.plans, confined, strict=True)
        if plan.configurations() and (matters or not is_confined)
    ]
    degrees = (shape.tensor, shape.pipeline, shape.data) if plans else ()
    key = (shape.num_ranks, shape.block, shape.cut, degrees, *((p.kind, p.ranks, p.radices, p.held) for p in plans))
    return key, tuple(width for plan in plans for width in plan.wavelengths)

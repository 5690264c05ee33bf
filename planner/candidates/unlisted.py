"""Why a job has no candidate at all, on the nearest of its sizes: the one place that every command asks."""

from dataclasses import dataclass, field
from functools import lru_cache

from costmodel.pricing.limits import Limits
from costmodel.pricing.remedies import remedies
from costmodel.pricing.unlisted import KINDS, Lack, lack_of
from planner.fabrics import plugin_of
from planner.model.cluster import Cluster
from planner.model.job import Job

MOST_NAMED = 3
"""changes that a sentence offers"""


def why_unlisted(cluster: Cluster, job: Job) -> str | None:
    """Limits that keep every configuration of a job from being listed, and changes of it that would list some.

    Told of the size that is nearest to having one. Failed parts do not count. None where something is listed.
    """
    device, fabric, limits = cluster.device, cluster.fabric, job.constraints
    asked = (job.workload, device, fabric, limits)
    text = "\n".join([*(each.model_dump_json() for each in asked), repr(job.sizes)])
    return _why(_Question(text, cluster, job))


@dataclass(frozen=True)
class _Question:
    """All that the answer depends on, by its text; the objects come along."""

    text: str
    cluster: Cluster = field(compare=False)
    job: Job = field(compare=False)


@lru_cache(maxsize=256)
def _why(question: _Question) -> str | None:
    cluster, job = question.cluster, question.job
    limits = Limits.of(job.constraints)
    device, fabric = cluster.device, cluster.fabric
    nearest: tuple[int, Lack] | None = None
    for size in job.sizes:
        lack = lack_of(job.workload, size, device, fabric, limits)
        if lack is None:
            return None
        if nearest is None or _nearness(lack) > _nearness(nearest[1]):
            nearest = size, lack
    if nearest is None:
        return "it asks for no number of accelerators"
    size, lack = nearest
    text = lack.text
    missing = plugin_of(fabric).memory_missing(cluster, job) if lack.kind == "memory" else None
    if missing is not None:
        text = missing + lack.where_it_fits
    elif len(job.sizes) > 1:
        text = f"with {size}, the nearest of its {len(job.sizes)} sizes: {text}"
    if lack.kind in ("limit", "constraint"):
        return text
    found = remedies(job.workload, size, device, fabric, limits)[:MOST_NAMED]
    return f"{text}; possible with {' or '.join(found)}" if found else text


def _nearness(lack: Lack) -> tuple[int, float, float]:
    return KINDS.index(lack.kind), -lack.missing_bytes, -lack.excess

"""Exact optimum of value, then energy, of tiny instances on fabrics of slices and rails, by enumeration."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from costmodel.pricing.candidates import enumerate_candidates
from costmodel.pricing.score import score
from planner.model.cluster import Cluster
from planner.model.instance import Instance
from planner.model.job import Job
from tests.oracles.slots import SlotOptions, Taken

ROUNDING = 1e-9


@dataclass(frozen=True)
class Way:
    """One way to run a job, and every set of devices that will do; none: not admitted."""

    value: float = 0.0
    energy: float = 0.0
    options: tuple[Taken, ...] = ()


def best_slots(instance: Instance) -> tuple[float, float] | None:
    """Optimum of value, and of energy at that value; None where required jobs cannot all run."""
    slots = SlotOptions(instance.cluster)
    ways = [list(_ways(job, instance.cluster, slots)) for job in instance.jobs]
    combinations = sorted(product(*ways), key=lambda chosen: -sum(way.value for way in chosen))
    best: tuple[float, float] | None = None
    for chosen in combinations:
        value, energy = sum(way.value for way in chosen), sum(way.energy for way in chosen)
        if best is not None and value < best[0] - ROUNDING * max(1.0, best[0]):
            break
        if (best is None or energy < best[1]) and _fit([way.options for way in chosen if way.options], frozenset()):
            best = (value if best is None else best[0], energy)
    return best


def _ways(job: Job, cluster: Cluster, slots: SlotOptions) -> Iterator[Way]:
    """Listed configurations; of those with the same sets, the one of most value, then least energy."""
    if not job.required:
        yield Way()
    sizes = [size for size in job.sizes if size <= cluster.fabric.most_devices_of_a_job]
    limits = job.constraints
    rows = enumerate_candidates(
        job.workload, sizes, cluster.device, cluster.fabric, one_server=limits.one_server, collective=limits.collective
    )
    if not len(rows):
        return
    scores = score(rows, cluster.device, cluster.fabric)
    speed, energy = scores.speed, scores.energy_per_work_j
    best: dict[tuple[Taken, ...], Way] = {}
    for row in range(len(rows)):
        x = float(speed[row] / speed.max())
        gain = {"sqrt": x**0.5, "linear": x, "step": float(x >= job.step_at)}[job.utility]
        options = tuple(slots.of(rows.configuration(row)))
        way = Way(job.weight * gain, job.weight * float(energy[row] / energy.min()), options)
        kept = best.get(options)
        if options and (kept is None or (-way.value, way.energy) < (-kept.value, kept.energy)):
            best[options] = way
    yield from best.values()


def _fit(jobs: Sequence[Sequence[Taken]], taken: Taken) -> bool:
    """Whether disjoint sets exist, one of each job."""
    if not jobs:
        return True
    return any(_fit(jobs[1:], taken | option) for option in jobs[0] if not option & taken)

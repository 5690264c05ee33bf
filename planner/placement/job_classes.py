"""Options of each class of jobs on a cluster: candidates expanded and scored once per workload and size."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import prod

from planner.candidates.expand import expand
from planner.fabrics import plugin_of
from planner.fabrics.job_class import JobClass, Option
from planner.fabrics.problem import JobOptions
from planner.model.cluster import Cluster
from planner.model.instance import Instance
from planner.model.job import Job
from planner.placement.asked_box import box_named
from planner.placement.job_mix import Mix

ROUND_UP = 2
"""a job whose size the fabric does not have takes the next one that it has, up to so many times its own"""


@dataclass(frozen=True)
class Site:
    """A cluster, and the kinds of jobs on it by number of the workload and size."""

    name: str
    cluster: Cluster
    kinds: dict[tuple[int, int], JobClass]
    sizes_to_fit: dict[int, float]
    """share of each size that fragmentation is measured with; empty where it has no measure"""
    boxes: dict[tuple[int, str], JobClass] = field(default_factory=dict)
    """kinds of jobs that ask for a box of a torus, by number of the workload and its name"""

    @property
    def capacity(self) -> int:
        return self.cluster.fabric.num_devices


def reference_speeds(mix: Mix, sizes: Iterable[int]) -> dict[tuple[int, int], float]:
    """Fastest speed of each workload on each size of the mix's reference; pairs that do not run there are left out."""
    pairs = [(number, size) for size in sizes for number in mix.may_run(size)]
    found = _options(mix, mix.reference, pairs)
    return {pair: float(options.scores.speed.max()) for pair, options in found.items() if len(options)}


def prepare(
    name: str, cluster: Cluster, mix: Mix, speeds: dict[tuple[int, int], float], shapes: Iterable[str] = ()
) -> Site:
    """All kinds of jobs on a cluster, their speeds over those of the reference; `shapes`: boxes that jobs ask for."""
    fabric = cluster.fabric
    plugin_of(fabric).job_classes.require_replayed(fabric, name)
    found = _options(mix, cluster, list(speeds))
    missing = [pair for pair in speeds if pair not in found or not len(found[pair])]
    found |= _rounded_up(mix, cluster, missing)
    kinds = {
        (number, size): _kind(mix, cluster, number, size, found.get((number, size)), speed)
        for (number, size), speed in speeds.items()
    }
    anything = Job(name="any", workload=mix.workloads[0].workload, accelerators=1)
    instance = Instance(schema_version=2, name="sizes", cluster=cluster, jobs=(anything,))
    boxes = _boxes(mix, cluster, speeds, shapes)
    return Site(name, cluster, kinds, instance.sizes_to_fit if fabric.measures_fragmentation else {}, boxes)


def _boxes(
    mix: Mix, cluster: Cluster, speeds: dict[tuple[int, int], float], shapes: Iterable[str]
) -> dict[tuple[int, str], JobClass]:
    """Kinds of jobs that ask for boxes; where jobs hold no boxes, those of as many accelerators."""
    asked = {shape: box_named(shape) for shape in shapes}
    sizes = {prod(box) for box in asked.values()}
    listed = _options(mix, cluster, [pair for pair in speeds if pair[1] in sizes], prune=False)
    rules, found = plugin_of(cluster.fabric).job_classes, {}
    for shape, box in asked.items():
        for (number, size), speed in speeds.items():
            if size == prod(box):
                options = listed.get((number, size))
                options = None if options is None else rules.with_box(options, box)
                found[number, shape] = _kind(mix, cluster, number, size, options, speed)
    return found


def _options(
    mix: Mix, cluster: Cluster, pairs: Sequence[tuple[int, int]], *, prune: bool = True
) -> dict[tuple[int, int], JobOptions]:
    """Scored candidates of each workload and size that the cluster is large enough for."""
    kept = [pair for pair in pairs if pair[1] <= cluster.fabric.most_devices_of_a_job]
    if not kept:
        return {}
    jobs = tuple(
        Job(name=f"{number}/{size}", workload=mix.workloads[number].workload, accelerators=size)
        for number, size in kept
    )
    instance = Instance(schema_version=2, name=mix.name, cluster=cluster, jobs=jobs)
    return dict(zip(kept, expand(instance, prune=prune).options, strict=True))


def _rounded_up(mix: Mix, cluster: Cluster, missing: Sequence[tuple[int, int]]) -> dict[tuple[int, int], JobOptions]:
    """Candidates of the next size that the cluster has, for each pair that has none."""
    found: dict[tuple[int, int], JobOptions] = {}
    for number, size in missing:
        for larger in range(size + 1, ROUND_UP * size + 1):
            listed = _options(mix, cluster, [(number, larger)])
            if listed and len(listed[number, larger]):
                found[number, size] = listed[number, larger]
                break
    return found


def _kind(
    mix: Mix, cluster: Cluster, number: int, size: int, options: JobOptions | None, reference_speed: float
) -> JobClass:
    name, rules = f"{mix.workloads[number].name} on {size}", plugin_of(cluster.fabric).job_classes
    if options is None or not len(options):
        return rules.job_class(name, size, size, ())
    order = options.rows_by_value()
    chosen = rules.of_loop(options, order, cluster)
    rows = _rows(options, order, cluster, reference_speed, mix)
    if not rows:
        return rules.job_class(name, size, size, ())
    of_loop = rows if chosen is order else _rows(options, chosen, cluster, reference_speed, mix)
    fastest = max(row.rate for row in rows)
    return rules.job_class(name, size, rows[0].shape.num_ranks, rows, fastest, of_loop)


def _rows(
    options: JobOptions, order: Sequence[int], cluster: Cluster, reference_speed: float, mix: Mix
) -> tuple[Option, ...]:
    """Options in this order, at recorded durations all equally fast."""
    rows = plugin_of(cluster.fabric).job_classes.distinct(options, order, reference_speed)
    return tuple(row if mix.durations == "scaled" else replace(row, rate=1.0) for row in rows)

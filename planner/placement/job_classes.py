"""What each kind of job may run as on a cluster: candidates expanded and scored once per workload and size."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from costmodel.fabrics import DividedPorts, Lightpath, OcsRail, Sipam
from planner.candidates.expand import expand
from planner.fabrics.demand import Demand
from planner.fabrics.lightpath.fast_layouts import Layouts, layouts_of
from planner.fabrics.problem import JobOptions
from planner.fabrics.sipam.demand import PoolDemand, pool_demand
from planner.fabrics.sipam.published_loop import loop_rows
from planner.model.cluster import Cluster
from planner.model.errors import InputError
from planner.model.instance import Instance, Job
from planner.placement.job_mix import Mix

Ints = NDArray[np.int64]
ROUND_UP = 2
"""a job whose size the fabric does not have takes the next one that it has, up to so many times its own"""


@dataclass(frozen=True)
class Option:
    """One configuration, with all that placing it and running it depends on."""

    options: JobOptions
    number: int
    """row of the options"""
    shape: Demand
    rate: float
    """reference seconds of work done in a second"""
    energy_j_per_s: float
    """joules for what the reference does in a second"""
    needs_rails: bool
    sets_circuits: bool
    """whether the configuration holds optical circuits"""
    key: tuple[object, ...]
    """rows of equal keys find a place, or none, together, light aside"""
    room_key: tuple[object, ...]
    """as many parts of rows with equal ones fit on each server"""

    @cached_property
    def is_single(self) -> bool:
        return self.shape.num_ranks == 1

    @cached_property
    def part(self) -> int:
        """Ranks that a server takes together."""
        return self.shape.part

    @cached_property
    def num_parts(self) -> int:
        return self.shape.num_parts

    @cached_property
    def pool(self) -> PoolDemand:
        """What it asks of racks with pooled memory."""
        return pool_demand(self.shape)

    @cached_property
    def boundary(self) -> Ints:
        """Least wavelengths that leave so many of its blocks; zeros where spreading the job needs no fibers."""
        return self.shape.boundary if self.shape.has_light else np.zeros(self.shape.num_blocks + 1, dtype=np.int64)

    @cached_property
    def layouts(self) -> Layouts:
        """Orders of its blocks on several servers."""
        return layouts_of(self.shape)


@dataclass(frozen=True)
class JobClass:
    """Jobs of one workload and size on one cluster."""

    name: str
    size: int
    """accelerators asked for"""
    held: int
    """accelerators that every row takes: more than asked where the fabric has no such size"""
    rows: tuple[Option, ...]
    """by value, the most valuable first; none where the cluster cannot run the job"""
    fastest: float
    """highest rate of the rows"""
    of_loop: tuple[Option, ...] = ()
    """those with the memory that the SiPAM loop gives the workload; all where it divides nothing"""

    @cached_property
    def parts(self) -> tuple[int, ...]:
        """Ranks that rows take together of a server, each number once, the fewest first."""
        return tuple(sorted({row.part for row in self.rows}))

    @cached_property
    def leanest(self) -> tuple[Option, ...]:
        """The row of each block size that asks for the least memory of a pool: where none has room, no row has."""
        least: dict[int, Option] = {}
        for row in sorted(self.rows, key=lambda row: row.pool.units):
            least.setdefault(row.part, row)
        return tuple(least.values())

    @cached_property
    def numbers(self) -> tuple[tuple[int, ...], ...]:
        """Numbers of the rows with each key."""
        of_key: dict[object, list[int]] = {}
        for number, row in enumerate(self.rows):
            of_key.setdefault(row.key, []).append(number)
        return tuple(map(tuple, of_key.values()))

    @cached_property
    def boundaries(self) -> tuple[Ints, ...]:
        """Boundaries of the rows with each key, (rows, blocks + 1)."""
        of_key: dict[object, list[Ints]] = {}
        for row in self.rows:
            of_key.setdefault(row.key, []).append(row.boundary)
        return tuple(map(np.array, of_key.values()))

    @cached_property
    def is_even(self) -> bool:
        """Whether each server of such a job takes one part, no more; then all parts are of the same size."""
        return any(row.shape.is_even for row in self.rows)

    @cached_property
    def first_rows(self) -> tuple[Option, ...]:
        """The most valuable row of each key."""
        first: dict[object, Option] = {}
        for row in self.rows:
            first.setdefault(row.key, row)
        return tuple(first.values())


@dataclass(frozen=True)
class Site:
    """A cluster, and the kinds of jobs on it by number of the workload and size."""

    name: str
    cluster: Cluster
    kinds: dict[tuple[int, int], JobClass]
    sizes_to_fit: dict[int, float]
    """share of each size that fragmentation is measured with; empty where it has no measure"""

    @property
    def capacity(self) -> int:
        return self.cluster.fabric.num_devices


def reference_speeds(mix: Mix, sizes: Iterable[int]) -> dict[tuple[int, int], float]:
    """Fastest speed of each workload on each size of the mix's reference; pairs that do not run there are left out."""
    pairs = [(number, size) for size in sizes for number in mix.may_run(size)]
    found = _options(mix, mix.reference, pairs)
    return {pair: float(options.scores.speed.max()) for pair, options in found.items() if len(options)}


def prepare(name: str, cluster: Cluster, mix: Mix, speeds: dict[tuple[int, int], float]) -> Site:
    """All kinds of jobs on a cluster, their speeds over those of the reference."""
    fabric = cluster.fabric
    if isinstance(fabric, DividedPorts) and fabric.shared is not None:
        problem = "jobs that share appliances cannot be replayed; take optical modules as memory, or another fabric"
        raise InputError(name, "fabric.memory", problem)
    found = _options(mix, cluster, list(speeds))
    missing = [pair for pair in speeds if pair not in found or not len(found[pair])]
    found |= _rounded_up(mix, cluster, missing)
    kinds = {
        (number, size): _kind(mix, cluster, number, size, found.get((number, size)), speed)
        for (number, size), speed in speeds.items()
    }
    anything = Job(name="any", workload=mix.workloads[0].workload, accelerators=1)
    instance = Instance(schema_version=1, name="sizes", cluster=cluster, jobs=(anything,))
    return Site(name, cluster, kinds, instance.sizes_to_fit if fabric.measures_fragmentation else {})


def _options(mix: Mix, cluster: Cluster, pairs: Sequence[tuple[int, int]]) -> dict[tuple[int, int], JobOptions]:
    """Scored candidates of each workload and size that the cluster is large enough for."""
    kept = [pair for pair in pairs if pair[1] <= cluster.fabric.most_devices_of_a_job]
    if not kept:
        return {}
    jobs = tuple(
        Job(name=f"{number}/{size}", workload=mix.workloads[number].workload, accelerators=size)
        for number, size in kept
    )
    instance = Instance(schema_version=1, name=mix.name, cluster=cluster, jobs=jobs)
    return dict(zip(kept, expand(instance).options, strict=True))


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
    name = f"{mix.workloads[number].name} on {size}"
    if options is None or not len(options):
        return JobClass(name, size, size, (), 1.0)
    order, fabric = options.rows_by_value(), cluster.fabric
    rows = _rows(options, order, cluster, reference_speed, mix)
    of_loop = rows
    if isinstance(fabric, Sipam) and not fabric.local_memory:
        chosen = set(loop_rows(cluster, options.job, options.candidates).tolist())
        of_loop = _rows(options, [index for index in order if index in chosen], cluster, reference_speed, mix)
    fastest = max(row.rate for row in rows)
    return JobClass(name, size, rows[0].shape.num_ranks, rows, fastest, of_loop)


def _rows(
    options: JobOptions, order: Sequence[int], cluster: Cluster, reference_speed: float, mix: Mix
) -> tuple[Option, ...]:
    """Rows in this order; of rows that find a place or none together, only the first."""
    rows: list[Option] = []
    seen: set[tuple[object, ...]] = set()
    has_light = isinstance(cluster.fabric, Lightpath)
    for index in order:
        row = row_of(options, index, cluster, reference_speed)
        if has_light or row.key not in seen:
            rows.append(row if mix.durations == "scaled" else replace(row, rate=1.0))
            seen.add(row.key)
    return tuple(rows)


def row_of(options: JobOptions, index: int, cluster: Cluster, reference_speed: float) -> Option:
    shape, fabric = options.shapes[index], cluster.fabric
    needs_rails = isinstance(fabric, OcsRail) and shape.num_ports > 0
    is_switched = bool(shape.cut) and fabric.has_circuits
    in_pool = isinstance(fabric, Sipam)
    asked = shape.num_ports if needs_rails else shape.held_units if in_pool else 0
    room_key = shape.num_ranks, shape.block, shape.cut, shape.part, asked
    return Option(
        options=options,
        number=index,
        shape=shape,
        rate=float(options.scores.speed[index]) / reference_speed,
        energy_j_per_s=float(options.scores.energy_per_work_j[index]) * reference_speed,
        needs_rails=needs_rails,
        sets_circuits=needs_rails
        or is_switched
        or (fabric.has_circuits and bool(shape.configurations))
        or (in_pool and shape.held_units > 0),
        key=(*room_key, pool_demand(shape)) if in_pool else room_key,
        room_key=room_key,
    )

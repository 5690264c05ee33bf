"""Variables of step 1: every shared literal, created once.

Devices of a server are interchangeable here, so jobs are counted by server, as in bin packing. Step 2 turns counts
into ranks, devices, fibers and wavelengths. A fabric whose jobs hold more than devices adds variables of its own.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

from ortools.sat.python import cp_model

from costmodel.fabrics import SliceShape
from planner.fabrics import plugin_of
from planner.fabrics.demand import Demand
from planner.fabrics.pattern import Pattern
from planner.fabrics.problem import JobOptions, Problem
from planner.formulation.rack_variables import RackVariables
from planner.model.cluster import Cluster
from planner.model.job import Resident
from planner.model.plan import Assignment

Pair = tuple[int, int]
"""Ordered pair of servers."""
Hint = tuple[cp_model.IntVar, int]
"""variable, and what it is in a known plan"""


def total(terms: Iterable[cp_model.LinearExprT]) -> cp_model.LinearExpr:
    """Sum of expressions; an empty one is the constant 0."""
    return cp_model.LinearExpr.sum(list(terms))


class BlockKind(NamedTuple):
    """Blocks or slices of `size` ranks; those of single-device jobs apart, since these need no port."""

    size: int
    is_single: bool
    cut: SliceShape
    memory_units: int
    """of remote memory for each rank"""
    memory_io: int
    """I/Os of each rank that serve memory"""
    tier_units: int
    """of a second tier behind remote memory, for each rank"""

    @classmethod
    def of(cls, shape: Demand) -> "BlockKind":
        return cls(shape.part, shape.is_single, shape.cut, shape.held_units, shape.held_io, shape.tier_units)

    @property
    def num_slices(self) -> int:
        """Slices that one of these takes, where the fabric cuts them."""
        return self.size // prod(self.cut)


@dataclass(frozen=True)
class RowClass:
    """Rows of one job that ask for the same of what its fabric shares."""

    rows: tuple[int, ...]
    demand: Demand
    """of the first of them"""
    chosen: cp_model.IntVar


@dataclass(frozen=True)
class JobVariables:
    """Literals and counts of one job; lists over servers unless said otherwise."""

    options: JobOptions
    rows: list[cp_model.IntVar]
    """row is chosen and placed anew"""
    stay: cp_model.IntVar | None
    """the resident keeps devices, configuration and circuits"""
    blocks: dict[BlockKind, list[cp_model.IntVar]]
    """by kind of block: blocks on each server"""
    touched: list[cp_model.IntVar]
    """the newly placed job has a rank here"""
    whole: list[cp_model.IntVar]
    """the newly placed job lies here entirely"""
    spans: cp_model.IntVar
    """the newly placed job lies on several servers"""
    classes: tuple[RowClass, ...]
    """of the rows that the fabric tells apart"""
    stay_devices: Counter[int]
    """devices by server that a staying resident holds"""
    racks: RackVariables | None = None
    """where an upper layer joins racks"""

    def new_devices(self, server: int, *, lit_only: bool = False) -> cp_model.LinearExprT:
        """Devices on a server that the job takes anew; `lit_only`: those that need a working port."""
        return total(
            kind.size * blocks[server] for kind, blocks in self.blocks.items() if not (lit_only and kind.is_single)
        )

    def devices(self, server: int) -> cp_model.LinearExprT:
        """Devices of the job on a server."""
        new = self.new_devices(server)
        return total([new, self.stay_devices[server] * self.stay]) if self.stay is not None else new

    @property
    def admitted(self) -> cp_model.LinearExprT:
        return total(self.rows if self.stay is None else [*self.rows, self.stay])


@dataclass(frozen=True)
class KnownPlan:
    """A plan in terms of step 1, whose values become hints."""

    problem: Problem
    pattern: Pattern
    assignments: Mapping[str, Assignment]
    """by job"""
    names: Mapping[int, int]
    """server that stands for each one"""

    def row(self, j: int) -> int | None:
        """Row of a job that is placed anew; None for others."""
        choice = self.pattern.get(j)
        return None if choice is None or choice.stays else choice.row

    def blocks(self, j: int) -> dict[int, int]:
        """Blocks by server of a job that is placed anew; empty for others."""
        choice = self.pattern.get(j)
        return {} if choice is None or choice.stays else {self.names[s]: n for s, n in choice.blocks}


class FabricVariables:
    """Variables that a fabric adds to counts by server; servers joined by packets need none."""

    def row_class(self, demand: Demand) -> Hashable | None:
        """Rows of a job with the same answer share a literal; None where a row needs none."""
        return None

    def add_job(self, model: cp_model.CpModel, name: str, job: JobVariables) -> None:
        """Create those of one job, right after its own: jobs come in order."""

    def add_shared(self, model: cp_model.CpModel, jobs: Sequence[JobVariables]) -> None:
        """Create those that jobs share, after all jobs."""

    def job_hints(self, plan: KnownPlan, j: int) -> Iterator[Hint]:
        """Values of those of one job in a plan."""
        return iter(())

    def shared_hints(self, plan: KnownPlan) -> Iterator[Hint]:
        """Values of those that jobs share in a plan."""
        return iter(())

    @property
    def lit(self) -> Mapping[Pair, cp_model.IntVar]:
        """Fibers of an ordered pair of servers that may carry light; empty where there are none."""
        return {}

    @property
    def spread(self) -> cp_model.LinearExprT:
        """The amount that jobs over several servers reserve between them; 0 where that costs nothing."""
        return 0


@dataclass(frozen=True)
class Variables:
    """All shared variables of step 1."""

    jobs: tuple[JobVariables, ...]
    of_fabric: FabricVariables


def create_variables(model: cp_model.CpModel, problem: Problem) -> Variables:
    """Create every shared variable; constraint groups only relate them."""
    cluster = problem.cluster
    of_fabric = plugin_of(cluster.fabric).step_one.variables(cluster)
    jobs: list[JobVariables] = []
    for j, options in enumerate(problem.options):
        jobs.append(_job(model, f"j{j}", options, cluster, of_fabric))
        of_fabric.add_job(model, f"j{j}", jobs[-1])
    of_fabric.add_shared(model, jobs)
    return Variables(tuple(jobs), of_fabric)


def _job(
    model: cp_model.CpModel, name: str, options: JobOptions, cluster: Cluster, of_fabric: FabricVariables
) -> JobVariables:
    servers = range(cluster.fabric.num_servers)
    rows = [model.new_bool_var(f"{name}_row{k}") for k in range(len(options))]
    shapes = options.shapes
    blocks: dict[BlockKind, list[cp_model.IntVar]] = {}
    for kind in sorted({BlockKind.of(shape) for shape in shapes}):
        most = max(shape.most_parts for shape in shapes if BlockKind.of(shape) == kind)
        blocks[kind] = [
            model.new_int_var(0, min(most, len(cluster.healthy_slots(s)) // kind.size), f"{name}_b{kind.size}_s{s}")
            for s in servers
        ]
    return JobVariables(
        options=options,
        rows=rows,
        blocks=blocks,
        classes=_classes(model, name, rows, shapes, of_fabric),
        stay=model.new_bool_var(f"{name}_stay") if options.can_stay else None,
        touched=[model.new_bool_var(f"{name}_on{s}") for s in servers],
        whole=[model.new_bool_var(f"{name}_all{s}") for s in servers],
        spans=model.new_bool_var(f"{name}_spans"),
        stay_devices=_held_devices(options, cluster),
        racks=None if cluster.fabric.upper_layer is None else RackVariables.of(model, name, options, cluster),
    )


def _classes(
    model: cp_model.CpModel,
    name: str,
    rows: Sequence[cp_model.IntVar],
    shapes: Sequence[Demand],
    of_fabric: FabricVariables,
) -> tuple[RowClass, ...]:
    groups: dict[Hashable, list[int]] = {}
    for row, shape in enumerate(shapes):
        key = of_fabric.row_class(shape)
        if key is not None:
            groups.setdefault(key, []).append(row)
    classes: list[RowClass] = []
    for members in groups.values():
        if len(members) == 1:
            chosen = rows[members[0]]
        else:
            chosen = model.new_bool_var(f"{name}_class{len(classes)}")
            model.add(sum(rows[row] for row in members) == chosen)
        classes.append(RowClass(tuple(members), shapes[members[0]], chosen))
    return tuple(classes)


def _held_devices(options: JobOptions, cluster: Cluster) -> Counter[int]:
    """Devices by server that a resident holds where it stays."""
    if not isinstance(options.job, Resident) or not options.can_stay:
        return Counter()
    return Counter(cluster.fabric.parse_device(name)[0] for name in options.job.devices)

"""Variables of step 1: every shared literal, created once.

Devices of a server are interchangeable here, so jobs are counted by server. Step 2 turns counts into
ranks, devices, fibers and wavelengths.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

from ortools.sat.python import cp_model

from costmodel.fabrics import Cut, Lightpath
from planner.fabrics.demand import Demand
from planner.fabrics.problem import JobOptions, Problem
from planner.fabrics.slices.free_slices import FreeSlices
from planner.formulation.slice_literals import SliceLiterals, new_places
from planner.model.cluster import Cluster
from planner.model.instance import Resident

Pair = tuple[int, int]
"""Ordered pair of servers."""
MOST_CELLS = 500_000
"""slots of all slices, each counted as often as it lies in one, up to which step 1 places slices"""


def total(terms: Iterable[cp_model.LinearExprT]) -> cp_model.LinearExpr:
    """Sum of expressions; an empty one is the constant 0."""
    return cp_model.LinearExpr.sum(list(terms))


class BlockKind(NamedTuple):
    """Blocks or slices of `size` ranks; those of single-device jobs apart, since these need no port."""

    size: int
    is_single: bool
    cut: Cut
    memory_units: int
    """of remote memory for each rank"""
    memory_io: int
    """I/Os of each rank that serve memory"""

    @classmethod
    def of(cls, shape: Demand) -> "BlockKind":
        return cls(shape.part, shape.num_ranks == 1, shape.cut, shape.held_units, shape.held_io)

    @property
    def num_slices(self) -> int:
        """Slices that one of these takes, where the fabric cuts them."""
        return self.size // prod(self.cut)


@dataclass(frozen=True)
class DemandClass:
    """Rows of one job with the same blocks, circuit width and table of leaving wavelengths by blocks inside."""

    rows: tuple[int, ...]
    kind: BlockKind
    unit: int
    boundary: tuple[int, ...]
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
    classes: tuple[DemandClass, ...]
    units: dict[int, cp_model.IntVar]
    """by width of circuits above 1: a row with such circuits is chosen"""
    light: dict[Pair, cp_model.IntVar]
    """wavelengths reserved on the fibers from one server to another"""
    stay_devices: Counter[int]
    """devices by server that a staying resident holds"""
    stay_light: Counter[Pair]
    """(fiber, wavelength) pairs by ordered pair that a staying resident holds"""

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
class Variables:
    """All shared variables of step 1."""

    jobs: tuple[JobVariables, ...]
    lit: dict[Pair, cp_model.IntVar]
    """fibers of an ordered pair that may carry light"""
    num_fibers: dict[Pair, int]
    """healthy fibers of an ordered pair"""
    lit_wavelengths: int
    """wavelengths that one fiber carries"""
    places: dict[tuple[int, Cut], tuple[SliceLiterals, ...]]
    """by server and extent: the slices that are there, where not too many"""


def create_variables(model: cp_model.CpModel, problem: Problem) -> Variables:
    """Create every shared variable; constraint groups only relate them."""
    cluster = problem.cluster
    fabric = cluster.fabric
    pairs = {
        (a, b): len(cluster.healthy_fibers(a, b))
        for a in range(fabric.num_servers)
        for b in range(fabric.num_servers)
        if fabric.num_fibers(a, b) > 0
    }
    per_fiber = min(fabric.wavelengths_per_fiber, fabric.wavelengths_per_tile) if isinstance(fabric, Lightpath) else 0
    capacity = {pair: per_fiber * count for pair, count in pairs.items()}
    jobs = tuple(_job(model, j, options, cluster, capacity) for j, options in enumerate(problem.options))
    lit = {(a, b): model.new_int_var(0, count, f"lit_{a}_{b}") for (a, b), count in pairs.items()}
    return Variables(jobs, lit, pairs, per_fiber, _places(model, jobs, cluster))


def _places(
    model: cp_model.CpModel, jobs: Iterable[JobVariables], cluster: Cluster
) -> dict[tuple[int, Cut], tuple[SliceLiterals, ...]]:
    cuts = sorted({kind.cut for job in jobs for kind in job.blocks if kind.cut})
    if not cuts:
        return {}
    whole = FreeSlices(cluster)
    slices = {(s, cut): whole.usable(s, cut) for s in range(cluster.fabric.num_servers) for cut in cuts}
    if sum(prod(cut) * len(found) for (_, cut), found in slices.items()) > MOST_CELLS:
        return {}
    return {key: new_places(model, found) for key, found in slices.items()}


def _job(
    model: cp_model.CpModel, j: int, options: JobOptions, cluster: Cluster, capacity: dict[Pair, int]
) -> JobVariables:
    name = f"j{j}"
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
    has_light = isinstance(cluster.fabric, Lightpath) and any(shape.has_light for shape in shapes)
    classes = tuple(_classes(model, name, rows, shapes)) if has_light else ()
    devices, light = _held(options, cluster)
    return JobVariables(
        options=options,
        rows=rows,
        stay=model.new_bool_var(f"{name}_stay") if options.can_stay else None,
        blocks=blocks,
        touched=[model.new_bool_var(f"{name}_on{s}") for s in servers],
        whole=[model.new_bool_var(f"{name}_all{s}") for s in servers],
        spans=model.new_bool_var(f"{name}_spans"),
        classes=classes,
        units=_units(model, classes),
        light={(a, b): model.new_int_var(0, most, f"{name}_w{a}_{b}") for (a, b), most in capacity.items() if classes},
        stay_devices=devices,
        stay_light=light,
    )


def _classes(
    model: cp_model.CpModel, name: str, rows: list[cp_model.IntVar], shapes: Sequence[Demand]
) -> list[DemandClass]:
    groups: dict[tuple[BlockKind, int, tuple[int, ...]], list[int]] = {}
    for row, shape in enumerate(shapes):
        if shape.has_light:
            key = BlockKind.of(shape), shape.unit, tuple(int(w) for w in shape.boundary)
            groups.setdefault(key, []).append(row)
    classes: list[DemandClass] = []
    for (kind, unit, boundary), members in groups.items():
        if len(members) == 1:
            chosen = rows[members[0]]
        else:
            chosen = model.new_bool_var(f"{name}_class{len(classes)}")
            model.add(sum(rows[row] for row in members) == chosen)
        classes.append(DemandClass(tuple(members), kind, unit, boundary, chosen))
    return classes


def _units(model: cp_model.CpModel, classes: tuple[DemandClass, ...]) -> dict[int, cp_model.IntVar]:
    units: dict[int, cp_model.IntVar] = {}
    for unit in sorted({demand.unit for demand in classes} - {1}):
        units[unit] = model.new_bool_var("")
        model.add(sum(demand.chosen for demand in classes if demand.unit == unit) == units[unit])
    return units


def _held(options: JobOptions, cluster: Cluster) -> tuple[Counter[int], Counter[Pair]]:
    """Devices by server, and light by ordered pair, that a resident holds where it stays."""
    devices, light = Counter[int](), Counter[Pair]()
    if not isinstance(options.job, Resident) or not options.can_stay:
        return devices, light
    parse = cluster.fabric.parse_device
    devices.update(parse(name)[0] for name in options.job.devices)
    if isinstance(cluster.fabric, Lightpath):
        seen = {
            (cluster.fabric.parse_fiber(fiber), wavelength)
            for held in options.job.circuits
            for c in held.circuits
            for fiber in c.fibers
            for wavelength in c.wavelengths
        }
        light.update((a, b) for (a, b, _), _ in seen)
    return devices, light

"""Variables of step 1 for light: wavelengths that jobs reserve between servers, and fibers that may carry them."""

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

from ortools.sat.python import cp_model

from costmodel.fabrics import Lightpath
from planner.fabrics.demand import Demand
from planner.fabrics.lightpath.crossing import least_crossing
from planner.fabrics.problem import JobOptions
from planner.formulation.variables import (
    BlockKind,
    FabricVariables,
    Hint,
    JobVariables,
    KnownPlan,
    Pair,
    Variables,
)
from planner.model.cluster import Cluster
from planner.model.job import Resident
from planner.model.plan import HeldCircuits


@dataclass(frozen=True)
class JobLight:
    """Light of one job."""

    units: dict[int, cp_model.IntVar]
    """by width of circuits above 1: a row with such circuits is chosen"""
    reserved: dict[Pair, cp_model.IntVar]
    """wavelengths reserved on the fibers from one server to another"""
    staying: Counter[Pair]
    """(fiber, wavelength) pairs by ordered pair that a staying resident holds"""


class LightVariables(FabricVariables):
    """Light of all jobs, and the fibers that carry it."""

    def __init__(self, cluster: Cluster) -> None:
        assert isinstance(cluster.fabric, Lightpath)
        self.fabric = cluster.fabric
        self.num_fibers = num_fibers(cluster)
        """healthy fibers of an ordered pair"""
        self.per_fiber = min(self.fabric.wavelengths_per_fiber, self.fabric.wavelengths_per_tile)
        """wavelengths that one fiber carries"""
        self.jobs: list[JobLight] = []
        self._lit: dict[Pair, cp_model.IntVar] = {}

    @property
    def lit(self) -> dict[Pair, cp_model.IntVar]:
        return self._lit

    @property
    def spread(self) -> cp_model.LinearExprT:
        return sum(sum(job.reserved.values()) for job in self.jobs)

    def row_class(self, demand: Demand) -> Hashable | None:
        """Rows with the same blocks, circuit width and table of leaving wavelengths by blocks inside."""
        if not demand.has_light:
            return None
        return BlockKind.of(demand), demand.racks > 1, demand.unit, least_crossing(demand.in_rack, self.per_fiber)

    def add_job(self, model: cp_model.CpModel, name: str, job: JobVariables) -> None:
        units: dict[int, cp_model.IntVar] = {}
        for unit in sorted({rows.demand.unit for rows in job.classes} - {1}):
            units[unit] = model.new_bool_var("")
            model.add(sum(rows.chosen for rows in job.classes if rows.demand.unit == unit) == units[unit])
        reserved = {
            (a, b): model.new_int_var(0, self.per_fiber * count, f"{name}_w{a}_{b}")
            for (a, b), count in self.num_fibers.items()
            if job.classes
        }
        self.jobs.append(JobLight(units, reserved, _held_light(job.options, self.fabric)))

    def add_shared(self, model: cp_model.CpModel, jobs: Sequence[JobVariables]) -> None:
        for (a, b), count in self.num_fibers.items():
            self._lit[a, b] = model.new_int_var(0, count, f"lit_{a}_{b}")

    def job_hints(self, plan: KnownPlan, j: int) -> Iterator[Hint]:
        job, row = self.jobs[j], plan.row(j)
        options = plan.problem.options[j]
        unit = options.shapes[row].unit if row is not None and options.shapes[row].has_light else None
        for width, chosen in job.units.items():
            yield chosen, width == unit
        assignment = plan.assignments.get(options.job.name) if row is not None else None
        used = light_of(self.fabric, () if assignment is None else assignment.circuits)
        for pair, reserved in job.reserved.items():
            yield reserved, len(used.get(pair, ()))

    def shared_hints(self, plan: KnownPlan) -> Iterator[Hint]:
        lit: dict[Pair, set[str]] = {}
        for assignment in plan.assignments.values():
            for pair, used in light_of(self.fabric, assignment.circuits).items():
                lit.setdefault(pair, set()).update(fiber for fiber, _ in used)
        for pair, count in self._lit.items():
            yield count, len(lit.get(pair, ()))


def light_variables(v: Variables) -> LightVariables:
    """Those that this fabric added."""
    assert isinstance(v.of_fabric, LightVariables)
    return v.of_fabric


def num_fibers(cluster: Cluster) -> dict[Pair, int]:
    """Healthy fibers by ordered pair of servers that has any, working or not."""
    servers = range(cluster.fabric.num_servers)
    return {
        (a, b): len(cluster.healthy_fibers(a, b)) for a in servers for b in servers if cluster.fabric.num_fibers(a, b)
    }


def light_of(fabric: Lightpath, circuits: Sequence[HeldCircuits]) -> dict[Pair, set[tuple[str, int]]]:
    """(fiber, wavelength) pairs in use, by ordered pair of servers."""
    used: dict[Pair, set[tuple[str, int]]] = {}
    for held in circuits:
        for circuit in held.circuits:
            for name in circuit.fibers:
                pair = fabric.parse_fiber(name)[:2]
                used.setdefault(pair, set()).update((name, w) for w in circuit.wavelengths)
    return used


def _held_light(options: JobOptions, fabric: Lightpath) -> Counter[Pair]:
    """Light by ordered pair that a resident holds where it stays."""
    if not isinstance(options.job, Resident) or not options.can_stay:
        return Counter()
    used = light_of(fabric, options.job.circuits)
    return Counter({pair: len(found) for pair, found in used.items()})

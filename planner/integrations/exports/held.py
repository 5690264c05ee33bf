"""Every circuit that a plan holds: those of collectives, pipelines and whole slices, and those to memory."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from costmodel.parallelism.configuration import Collective, Configuration
from costmodel.parallelism.mappings import DIMENSIONS
from planner.integrations.exports.groups import GroupRun, runs_of, stems_of
from planner.model.errors import InputError
from planner.model.instance import Instance
from planner.model.plan import Assignment, HeldCircuits, MemoryCircuit, Plan, RackCircuit


@dataclass(frozen=True)
class Held:
    """Circuits that one job holds along one dimension, for its whole slice, or for its memory."""

    job: str
    dimension: str
    """tensor, pipeline, data, slice, memory or racks"""
    stem: str
    """name for files, unique in the plan"""
    plan: str
    """what the circuits are for, in words"""
    groups: tuple[tuple[str, ...], ...]
    """devices of each group in rank order"""
    held: tuple[HeldCircuits, ...] = ()
    """by configuration"""
    memory: tuple[MemoryCircuit, ...] = ()
    upper: tuple[RackCircuit, ...] = ()
    """between racks"""
    run: GroupRun | None = None
    """the all-reduce or all-to-all that uses them, where its schedule is known"""

    @classmethod
    def of_run(cls, run: GroupRun) -> "Held":
        return cls(run.job, run.dimension, run.stem, run.plan.name, run.groups, run.held, run=run)


def held_of(instance: Instance, plan: Plan, where: str) -> tuple[Held, ...]:
    """All circuits of a plan; InputError, naming the file `where`, where it holds none."""
    fabric, stems = instance.cluster.fabric, stems_of(plan)
    runs: dict[tuple[str, str], list[GroupRun]] = {}
    for run in () if fabric.limits is None else runs_of(plan, fabric.limits):
        runs.setdefault((run.job, run.dimension), []).append(run)
    found = tuple(held for each in plan.assignments for held in _of_job(each, stems[each.job], runs))
    if not found:
        problem = f"no job holds circuits on this {fabric.kind}; there is nothing to export"
        raise InputError(where, "assignments", problem)
    return found


def _of_job(assignment: Assignment, stem: str, runs: Mapping[tuple[str, str], list[GroupRun]]) -> Iterator[Held]:
    job, configuration, devices = assignment.job, assignment.configuration, assignment.devices
    for dimension in DIMENSIONS:
        held = tuple(each for each in assignment.circuits if each.dimension == dimension)
        if (job, dimension) in runs:
            yield from map(Held.of_run, runs[job, dimension])
        elif held:
            ranks = configuration.all_degrees.groups(dimension).tolist()
            groups = tuple(tuple(devices[rank] for rank in group) for group in ranks)
            yield Held(job, dimension, f"{stem}.{dimension}", _name(configuration, dimension), groups, held)
    if held := tuple(each for each in assignment.circuits if each.dimension == "slice"):
        words = "joins the slice, duplex, for all dimensions"
        yield Held(job, "slice", f"{stem}.slice", words, (devices,), held)
    if assignment.memory:
        words = f"{configuration.memory_units} units over {configuration.memory_io} I/Os of each rank"
        yield Held(job, "memory", f"{stem}.memory", words, (devices,), memory=assignment.memory)
    if assignment.upper:
        words = f"joins its {configuration.racks} racks, between the halves of the all-reduces in each along data"
        yield Held(job, "racks", f"{stem}.racks", words, (devices,), upper=assignment.upper)


def _name(configuration: Configuration, dimension: str) -> str:
    """Of the collective along a dimension; of both phases where they differ."""
    names = []
    for each in configuration.by_phase:
        collective: Collective = getattr(each, f"{dimension}_collective")
        widths = "x".join(map(str, collective.wavelengths))
        radices = "x".join(map(str, collective.radices))
        names.append(" ".join([collective.kind, *([radices] if radices else []), f"w{widths}"]))
    return ", then ".join(dict.fromkeys(names))

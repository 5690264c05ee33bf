"""The collectives of a plan: their schedules, and the devices and circuits that run them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, count, repeat
from typing import Literal

from costmodel.collectives.build import schedule_of
from costmodel.collectives.ladder import Algorithm
from costmodel.collectives.ladder import Collective as CollectiveName
from costmodel.collectives.limits import Limits
from costmodel.collectives.offers import SWITCHED
from costmodel.collectives.plan import CollectivePlan as CollectivePlan
from costmodel.collectives.schedule import Schedule
from costmodel.parallelism.configuration import Collective
from planner.model.errors import InputError
from planner.model.instance import Instance
from planner.model.plan import Assignment, HeldCircuits, Plan

Axis = Literal["tensor", "data", "expert"]
REDUCING: tuple[Algorithm, ...] = ("ring", "circulant", *SWITCHED)
EXCHANGING: tuple[Algorithm, ...] = ("direct", "bruck", "circulant_relay")
RUN: dict[Axis, tuple[CollectiveName, tuple[Algorithm, ...]]] = {
    "tensor": ("all_reduce", REDUCING),
    "data": ("all_reduce", REDUCING),
    "expert": ("all_to_all", EXCHANGING),
}
"""what groups along a dimension run over circuits, and the kinds of plans for it"""


@dataclass(frozen=True)
class GroupRun:
    """The all-reduce or all-to-all of one job along one dimension; all its groups do the same."""

    job: str
    dimension: Axis
    stem: str
    """name for files, unique in the plan"""
    plan: CollectivePlan
    schedule: Schedule
    groups: tuple[tuple[str, ...], ...]
    """devices of each group in rank order"""
    held: tuple[HeldCircuits, ...]
    """circuits of all groups in each configuration"""


def group_runs(instance: Instance, plan: Plan, where: str) -> tuple[GroupRun, ...]:
    """Every all-reduce and all-to-all over circuits; InputError, naming the file `where`, where there is none."""
    fabric = instance.cluster.fabric
    if fabric.limits is None:
        problem = (
            f"collectives run over circuits of their own on lightpath and ocs_rail; on {fabric.kind} export circuits"
        )
        raise InputError(where, "", problem)
    runs = tuple(runs_of(plan, fabric.limits))
    if not runs:
        raise InputError(where, "assignments", "no job reduces or exchanges over circuits; there is nothing to export")
    return runs


def runs_of(plan: Plan, limits: Limits) -> Iterator[GroupRun]:
    """Every all-reduce and all-to-all over circuits, on a fabric where each device may hold so much."""
    stems = stems_of(plan)
    for assignment in plan.assignments:
        yield from _runs_of(assignment, limits, stems[assignment.job])


def stems_of(plan: Plan) -> dict[str, str]:
    """Names of the jobs that are fit for files, each once."""
    taken: set[str] = set()
    stems = {}
    for job in (assignment.job for assignment in plan.assignments):
        plain = re.sub(r"[^A-Za-z0-9_-]+", "_", job)
        names = chain([plain], (f"{plain}-{number}" for number in count(2)))
        stems[job] = next(name for name in names if name.lower() not in taken)
        taken.add(stems[job].lower())
    return stems


def _runs_of(assignment: Assignment, limits: Limits, stem: str) -> Iterator[GroupRun]:
    for axis, (name_of_collective, kinds) in RUN.items():
        collective: Collective = getattr(assignment.configuration, f"{axis}_collective")
        degrees, lit = assignment.configuration.all_degrees, [h for h in assignment.circuits if h.dimension == axis]
        pools = [(collective, degrees, f"{stem}.{axis}")]
        if collective.prefill is not None:
            pools.insert(0, (collective.prefill, degrees.of_prompts, f"{stem}.{axis}-prompts"))
        for each, of_pool, name in pools:
            if each.kind not in kinds or not each.wavelengths:
                continue
            lines = of_pool.groups(axis)
            if each.racks > 1:
                lines, name = lines.reshape(-1, lines.shape[1] // each.racks), f"{name}-in-rack"
            plan = collective_plan(each, name_of_collective, lines.shape[1], limits)
            groups = tuple(tuple(assignment.devices[rank] for rank in line) for line in lines.tolist())
            held = tuple(map(_within, lit, repeat({device for group in groups for device in group})))
            yield GroupRun(assignment.job, axis, name, plan, schedule_of(plan), groups, held)


def _within(held: HeldCircuits, devices: set[str]) -> HeldCircuits:
    """The circuits between some devices alone."""
    circuits = tuple(circuit for circuit in held.circuits if circuit.source in devices)
    return held if len(circuits) == len(held.circuits) else held.model_copy(update={"circuits": circuits})


def collective_plan(collective: Collective, name: CollectiveName, ranks: int, limits: Limits) -> CollectivePlan:
    """The plan that a collective of a file stands for."""
    assert collective.kind in (*REDUCING, *EXCHANGING)
    held = collective.held or (1,)
    return CollectivePlan(
        name, collective.kind, ranks, limits, collective.radices, held, collective.wavelengths, collective.order
    )

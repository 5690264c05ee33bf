"""Instances derived from an instance, for questions of the form "what if": pure functions, validated anew."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from pydantic import ValidationError

from costmodel.fabrics import FiberBundle, Lightpath
from costmodel.spec import Spec
from planner.candidates.expand import Known, expand, list_options, reference_of
from planner.fabrics.problem import JobOptions, Problem
from planner.model.cluster import Cluster, FailedFiber, FailedLaser, FailedReceiver, Health
from planner.model.errors import InputError
from planner.model.instance import Instance, Job, Objective, ObjectiveName, Reference, Resident
from planner.model.plan import Assignment, Plan

SpecT = TypeVar("SpecT", bound=Spec)
JobT = TypeVar("JobT", bound=Job)
Pair = tuple[int, int]
"""Ordered pair of servers."""


def edited(spec: SpecT, **changes: Any) -> SpecT:
    """The spec with some fields replaced, validated anew; nothing that was cached on it comes along."""
    fields = {name: getattr(spec, name) for name in type(spec).model_fields}
    return type(spec)(**(fields | changes))


def with_objectives(instance: Instance, *names: ObjectiveName) -> Instance:
    """The instance with these objectives, in this order, without tolerances."""
    return edited(instance, objectives=tuple(Objective(name=name) for name in names))


# Jobs


def with_job(instance: Instance, name: str, **changes: Any) -> Instance:
    """The instance with fields of one job replaced."""
    job = edited(instance.job(name), **changes)
    return edited(
        instance,
        jobs=tuple(job if other.name == name else other for other in instance.jobs),
        residents=tuple(job if other.name == name else other for other in instance.residents),
    )


def required(instance: Instance, name: str, **changes: Any) -> Instance:
    """The instance in which one job must run; other fields of it may change as well."""
    return with_job(instance, name, required=True, **changes)


def only(instance: Instance, name: str) -> Instance:
    """The instance with one job, which must run and holds nothing yet."""
    return edited(instance, jobs=(_waiting(instance.job(name)),), residents=())


def pinned(instance: Instance, plan: Plan, name: str, *, movable: Collection[str] = ()) -> Instance:
    """What a plan admits stands where the plan puts it, and job `name`, which must run, waits beside it.

    Jobs that the plan leaves out are gone. Those in `movable` may move. InputError where the plan does not
    belong to the instance, or stands on a failed part.
    """
    try:
        residents = tuple(
            _standing(instance.job(a.job), a, is_movable=a.job in movable) for a in plan.assignments if a.job != name
        )
        return edited(instance, jobs=(_waiting(instance.job(name)),), residents=residents)
    except ValidationError as error:
        message = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise InputError("plan", plan.instance, f"does not fit this instance: {message}") from None


def as_residents(instance: Instance, plan: Plan) -> Instance:
    """What a plan admits, all of it running where the plan puts it; moving a job costs its ranks.

    Residents that may not move stay so. Jobs that the plan leaves out are gone.
    """
    residents = []
    for assignment in plan.assignments:
        job = instance.job(assignment.job)
        standing = _standing(job, assignment, is_movable=not isinstance(job, Resident) or job.movable)
        residents.append(edited(standing, move_cost=float(len(assignment.devices))))
    return edited(instance, jobs=(), residents=tuple(residents), objectives=(Objective(name="moves"),))


def _job_fields(job: Job) -> dict[str, Any]:
    return {name: getattr(job, name) for name in Job.model_fields}


def _waiting(job: Job) -> Job:
    return Job(**(_job_fields(job) | {"required": True}))


def _standing(job: Job, assignment: Assignment, *, is_movable: bool) -> Resident:
    """The job as a resident; only its own size is listed, which saves scoring the others."""
    fields = _job_fields(job) | {"accelerators": assignment.configuration.num_devices}
    move_cost = job.move_cost if isinstance(job, Resident) else 1.0
    return Resident(
        **fields,
        devices=assignment.devices,
        configuration=assignment.configuration,
        circuits=assignment.circuits,
        memory=assignment.memory,
        movable=is_movable,
        move_cost=move_cost,
    )


# Cluster


def with_fabric(instance: Instance, **changes: Any) -> Instance:
    """The instance with fields of the fabric replaced."""
    cluster = instance.cluster
    return _with_cluster(instance, fabric=edited(cluster.fabric, **changes))


def _with_cluster(instance: Instance, **changes: Any) -> Instance:
    return edited(instance, cluster=edited(instance.cluster, **changes))


def with_fibers(instance: Instance, more: Mapping[Pair, int]) -> Instance:
    """More fibers between some ordered pairs of servers; those that exist keep their numbers."""
    fabric = _lightpath(instance.cluster)
    servers = range(fabric.num_servers)
    counts = {(a, b): fabric.num_fibers(a, b) + more.get((a, b), 0) for a in servers for b in servers}
    bundles = tuple(_bundle(fabric, pair, count) for pair, count in counts.items() if count)
    return with_fabric(instance, fibers=bundles)


def with_fibers_everywhere(instance: Instance, more: int) -> Instance:
    """More fibers between every two servers of a rack, in each direction."""
    fabric = _lightpath(instance.cluster)
    if isinstance(fabric.fibers, int):
        return with_fabric(instance, fibers=fabric.fibers + more)
    return with_fibers(instance, dict.fromkeys(server_pairs(fabric), more))


def server_pairs(fabric: Lightpath) -> list[Pair]:
    """Ordered pairs of different servers of one rack."""
    servers = range(fabric.num_servers)
    return [(a, b) for a in servers for b in servers if a != b and fabric.rack_of(a) == fabric.rack_of(b)]


def with_server(instance: Instance) -> Instance:
    """One more server in each rack, joined to each other one by as many fibers as two servers of a rack have.

    Where pairs differ, that is the least number among the pairs that have fibers.
    """
    fabric = instance.cluster.fabric
    larger = edited(fabric, servers=fabric.servers + 1)
    if isinstance(fabric, Lightpath) and not isinstance(fabric.fibers, int):
        assert isinstance(larger, Lightpath)
        count = fibers_of_new_server(fabric)
        new = {larger.servers * rack + fabric.servers for rack in range(larger.racks)}
        joined = [pair for pair in server_pairs(larger) if count and new & set(pair)]
        bundles = tuple(_bundle(larger, pair, count) for pair in joined)
        larger = edited(larger, fibers=(*fabric.fibers, *bundles))
    return _with_cluster(instance, fabric=larger)


def _bundle(fabric: Lightpath, pair: Pair, count: int) -> FiberBundle:
    source, destination = map(fabric.server_name, pair)
    return FiberBundle.model_validate({"from": source, "to": destination, "count": count})


def fibers_of_new_server(fabric: Lightpath) -> int:
    """Fibers that join a further server to each other one, in each direction."""
    counts = (fabric.num_fibers(*pair) for pair in server_pairs(fabric))
    return min((count for count in counts if count), default=0)


def repaired(instance: Instance, part: str | None = None) -> Instance:
    """The instance with one failed part working again, named as `failed_parts` does, or with all of them."""
    health = instance.cluster.health
    if part is None:
        return _with_cluster(instance, health=Health())
    kept = {name: tuple(entry for entry in entries if _part_name(entry) != part) for name, entries in iter(health)}
    return _with_cluster(instance, health=edited(health, **kept))


def failed_parts(instance: Instance) -> tuple[str, ...]:
    """Names of all failed parts, each once; a port is named as its device."""
    entries = (entry for _, entries in iter(instance.cluster.health) for entry in entries)
    return tuple(dict.fromkeys(map(_part_name, entries)))


def _part_name(entry: str | FailedFiber | FailedLaser | FailedReceiver) -> str:
    if isinstance(entry, FailedFiber):
        return f"{entry.source}>{entry.destination}#{entry.index}"
    return entry if isinstance(entry, str) else entry.name


def _lightpath(cluster: Cluster) -> Lightpath:
    if not isinstance(cluster.fabric, Lightpath):
        raise InputError("cluster", "fabric", f"a {cluster.fabric.kind} has no fibers")
    return cluster.fabric


# Values that compare


def references(instance: Instance) -> dict[str, Reference]:
    """What value and energy of each job are measured against; jobs without any candidate are left out."""
    known: Known = {}
    listed = [list_options(instance, job, known) for job in instance.all_jobs]
    return {options.job.name: reference_of(options.job, options.scores) for options in listed if len(options)}


def measured_against(instance: Instance, given: Mapping[str, Reference]) -> Instance:
    """The instance whose jobs are measured against given references, by name; others as before.

    Another fabric may bring a faster candidate, and against that one every slower candidate would lose value
    although nothing became worse. With the references of the original instance, values and energies of the two
    compare; a candidate faster than all original ones is worth more than its weight.
    """

    def of(job: JobT) -> JobT:
        return edited(job, reference=given[job.name]) if job.name in given else job

    return edited(instance, jobs=tuple(map(of, instance.jobs)), residents=tuple(map(of, instance.residents)))


def expand_as(instance: Instance, given: Mapping[str, Reference], *, fixed: Collection[str] = ()) -> Problem:
    """Candidates of a derived instance, measured against given references.

    Jobs that must stay, and residents in `fixed`, list their current configuration only.
    """
    problem = expand(measured_against(instance, given))
    return replace(problem, options=tuple(_narrowed(options, fixed) for options in problem.options))


def _narrowed(options: JobOptions, fixed: Collection[str]) -> JobOptions:
    if options.current is None or not (options.must_stay or options.job.name in fixed):
        return options
    return options.take(np.array([options.current], dtype=np.int64))


def rehinted(problem: Problem, plan: Plan) -> Plan | None:
    """The plan as a start for another problem, its values those of that problem.

    None where a configuration of the plan is not listed there.
    """
    by_name = {options.job.name: options for options in problem.options}
    assignments = []
    for old in plan.assignments:
        options = by_name.get(old.job)
        row = options.row_of(old.configuration) if options is not None else None
        if options is None or row is None:
            return None
        assignments.append(options.assignment(row, old.devices, old.circuits))
    return Plan(instance=problem.instance.name, assignments=tuple(assignments))

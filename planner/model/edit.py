"""Instances made from an instance, for questions of the form "what if": pure functions, validated anew."""

from collections.abc import Collection
from typing import Any, TypeVar

from pydantic import ValidationError

from costmodel.spec import Spec
from planner.model.errors import InputError
from planner.model.health import FailedFiber, FailedLaser, FailedReceiver, Health
from planner.model.instance import Instance, Objective, ObjectiveName
from planner.model.job import Job, Resident
from planner.model.plan import Assignment, Plan

SpecT = TypeVar("SpecT", bound=Spec)


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
        upper=assignment.upper,
        movable=is_movable,
        move_cost=move_cost,
    )


# Cluster


def with_fabric(instance: Instance, **changes: Any) -> Instance:
    """The instance with fields of the fabric replaced."""
    cluster = instance.cluster
    return with_cluster(instance, fabric=edited(cluster.fabric, **changes))


def with_cluster(instance: Instance, **changes: Any) -> Instance:
    return edited(instance, cluster=edited(instance.cluster, **changes))


def repaired(instance: Instance, part: str | None = None) -> Instance:
    """The instance with one failed part working again, named as `failed_parts` does, or with all of them."""
    health = instance.cluster.health
    if part is None:
        return with_cluster(instance, health=Health())
    kept = {name: tuple(entry for entry in entries if _part_name(entry) != part) for name, entries in iter(health)}
    return with_cluster(instance, health=edited(health, **kept))


def failed_parts(instance: Instance) -> tuple[str, ...]:
    """Names of all failed parts, each once; a port is named as its device."""
    entries = (entry for _, entries in iter(instance.cluster.health) for entry in entries)
    return tuple(dict.fromkeys(map(_part_name, entries)))


def _part_name(entry: str | FailedFiber | FailedLaser | FailedReceiver) -> str:
    if isinstance(entry, FailedFiber):
        return f"{entry.source}>{entry.destination}#{entry.index}"
    return entry if isinstance(entry, str) else entry.name

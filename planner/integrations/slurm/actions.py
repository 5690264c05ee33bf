"""Reconcile observed with desired state: the actions on Slurm, switches and locks that make one the other.

Pure and level-triggered: each tick compares both anew, and nothing depends on what an earlier tick did.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from planner.integrations.slurm import starts
from planner.integrations.slurm.allocations import Allocation
from planner.integrations.slurm.arrays import split_off, why_behind, why_waiting
from planner.integrations.slurm.config import SlurmSite
from planner.integrations.slurm.controller_events import is_sent
from planner.integrations.slurm.hooks import job_name
from planner.integrations.slurm.job_requests import JobDescriptor
from planner.integrations.slurm.observed_state import OUR_REASON, DesiredState, Memory, ObservedState, number_of
from planner.integrations.slurm.rows import JobRow
from planner.integrations.switch_drivers.parts import taken

MOST_NOTES = 10
"""in one tick"""

Do = Literal[
    "off", "on", "forget", "mark", "tell", "place", "release", "hold", "hold_for_admin", "requeue_hold", "retry",
    "put_off", "put_on", "split", "note", "heard", "drain", "resume", "delay", "end",
]  # fmt: skip


@dataclass(frozen=True)
class Action:
    """One thing to do. Done again, or not at all since a process died, it does no harm."""

    do: Do
    job: int = 0
    allocation: Allocation | None = None
    comment: str = ""
    gres: str = ""
    user_id: int = 0
    name: str = ""
    """of a node, or of a job of the driver"""
    task: int = 0
    """of an array"""
    in_s: float = 0.0
    """seconds from now"""


def reconcile(
    observed: ObservedState, desired: DesiredState, memory: Memory, site: SlurmSite, now_s: float
) -> list[Action]:
    """All actions of a tick in order: first everything is given back, then jobs are stopped, then others are placed.

    Switches come last, since they may be slow: none of the other actions builds upon theirs before the next tick.
    """
    counted = starts.failed(observed, now_s)
    observed = replace(observed, allocations={**observed.allocations, **counted}) if counted else observed
    first = [Action("mark", job, allocation) for job, allocation in counted.items()]
    first += [Action("heard", job) for job in observed.reports]
    forgotten = [job for job in observed.allocations if _is_forgotten(observed, desired, job)]
    first += [Action("forget", job) for job in forgotten]
    locks = _locks(observed, forgotten)
    rest: list[Action] = []
    for job, descriptor in sorted(observed.ours.items(), key=lambda each: observed.jobs[each[0]].in_order):
        row, place = observed.jobs[job], desired.places.get(job)
        allocation = None if job in forgotten else observed.allocations.get(job)
        if place is None:
            rest += _without_place(observed, desired, row, descriptor, allocation)
            rest += [Action("split", job, task=task) for task in split_off(observed, site, job, now_s)]
        elif not (row.waits and row.is_held):
            rest += _kept(row, descriptor, allocation, place, site, now_s)
        elif job_name(job) not in observed.applied:
            rest += _placed(row, descriptor, allocation, place, locks)
    switches = [action for action in _switches(observed, desired) if memory.switchings.is_due(action.name, now_s)]
    return first + rest + _notes(observed, desired, memory, site, now_s) + _nodes(observed, desired, site) + switches


def _switches(observed: ObservedState, desired: DesiredState) -> Iterator[Action]:
    """Circuits that are on for jobs that hold nothing, whose epilog has failed or has not come; and the reverse."""
    for name in observed.applied:
        job = number_of(name)
        if job is not None and observed.is_clear(job):
            yield Action("off", job, name=name)
    for job, place in desired.places.items():
        runs = job in observed.ours and observed.jobs[job].state == "RUNNING" and observed.allocations.get(job) == place
        if runs and place.circuits and job_name(job) not in observed.applied:
            yield Action("on", job, place, name=job_name(job))


def _is_forgotten(observed: ObservedState, desired: DesiredState, job: int) -> bool:
    """The allocation of a job is given back: it holds nothing, and will not start there."""
    is_on = job_name(job) in observed.applied
    return (
        observed.is_clear(job)
        and not is_on
        and (observed.has_ended(job) or desired.places.get(job) != observed.allocations[job])
    )


def _locks(observed: ObservedState, forgotten: list[int]) -> dict[str, int]:
    """Job of each lock, an index on a node or a wavelength, by allocations and by circuits that are on."""
    found: dict[str, int] = {}
    for job, allocation in observed.allocations.items():
        if job not in forgotten:
            found.update(dict.fromkeys(allocation.locks, job))
    for name, circuits in observed.applied.items():
        number = number_of(name)
        found.update(dict.fromkeys(taken(circuits), -1 if number is None else number))
    return found


def _without_place(
    observed: ObservedState,
    desired: DesiredState,
    row: JobRow,
    descriptor: JobDescriptor,
    allocation: Allocation | None,
) -> Iterator[Action]:
    """A job that the controller lets wait, or does not know, must hold nothing."""
    job = row.job_id
    if row.holds:
        is_stray = desired.knows(job) or is_sent(observed, job) or (allocation is None and not row.takes_gpus)
        if is_stray and row.can_requeue and row.state != "COMPLETING":
            yield from _sent(row, allocation)
    elif row.waits and row.is_held:
        if descriptor.is_put_off and not row.waits_for_jobs:
            yield Action("put_on", job, comment=descriptor.text())
        elif row.waits_for_jobs and not descriptor.is_put_off and row.reason != "JobHeldAdmin":
            yield Action("put_off", job, comment=descriptor.text(is_put_off=True))
        elif row.waits_for_jobs and descriptor.is_put_off and row.reason != "JobHeldAdmin":
            yield Action("release", job)
    elif row.waits and not (descriptor.is_put_off and row.waits_for_jobs):
        yield from _marked(job, allocation)
        yield Action("hold", job)


def _placed(
    row: JobRow, descriptor: JobDescriptor, allocation: Allocation | None, place: Allocation, locks: dict[str, int]
) -> Iterator[Action]:
    """A held job with a place: it gets its allocation once all of it is free, then is released."""
    job = row.job_id
    if allocation == place:
        if allocation.restarts < row.restarts:
            yield Action("hold_for_admin", job)
            return
        if descriptor.at != place.digest:
            yield Action("place", job, place, descriptor.text(at=place.digest), descriptor.gres)
        yield Action("release", job)
        return
    if allocation is not None or any(locks.get(lock, job) != job for lock in place.locks):
        return
    locks.update(dict.fromkeys(place.locks, job))
    place = replace(place, restarts=row.restarts)
    yield Action("tell", job, place, user_id=row.user_id)
    yield Action("place", job, place, descriptor.text(at=place.digest), descriptor.gres)
    yield Action("release", job)


def _kept(
    row: JobRow,
    descriptor: JobDescriptor,
    allocation: Allocation | None,
    place: Allocation,
    site: SlurmSite,
    now_s: float,
) -> Iterator[Action]:
    """A job that waits for Slurm to start it, or runs: where it should, or it is stopped."""
    job = row.job_id
    if row.waits:
        if allocation != place or descriptor.at != place.digest:
            yield from _marked(job, allocation)
            yield Action("hold", job)
        else:
            steps = starts.next_step(row, descriptor, allocation, site.config.connect_tries, now_s)
            yield from (Action(do, job, comment=text, in_s=in_s) for do, text, in_s in steps)
    elif row.state == "RUNNING" and allocation == place and allocation.tries:
        yield Action("mark", job, replace(allocation, tries=0, again_s=0.0, said=""))
        yield Action("note", job, comment=descriptor.text(at=place.digest))
    elif row.holds and row.state != "COMPLETING" and allocation != place:
        yield from _sent(row, allocation)


def _sent(row: JobRow, allocation: Allocation | None) -> Iterator[Action]:
    if row.can_requeue:
        yield from _marked(row.job_id, allocation)
        yield Action("requeue_hold", row.job_id)


def _marked(job: int, allocation: Allocation | None) -> Iterator[Action]:
    if allocation is not None and not allocation.leaves:
        yield Action("mark", job, replace(allocation, leaves=True))


def _notes(
    observed: ObservedState, desired: DesiredState, memory: Memory, site: SlurmSite, now_s: float
) -> list[Action]:
    """Why jobs wait, where what stands in AdminComment is out of date: a few in each tick, in turn."""
    found = []
    for job, descriptor in observed.ours.items():
        row = observed.jobs[job]
        if not row.waits or job in desired.places or descriptor.is_put_off:
            continue
        why = why_waiting(observed, desired, memory, job)
        if not why and not desired.knows(job) and observed.may_run(job, now_s):
            why = why_behind(observed, site, job, now_s)
        text = descriptor.text(why=why)
        if why and text != row.admin_comment.strip():
            found.append(Action("note", job, comment=text))
    found.sort(key=lambda action: (action.job <= memory.notes_from, action.job))
    if found:
        memory.notes_from = found[:MOST_NOTES][-1].job
    return found[:MOST_NOTES]


def _nodes(observed: ObservedState, desired: DesiredState, site: SlurmSite) -> list[Action]:
    """Nodes on which no accelerator works are drained in Slurm, until one does."""
    found = []
    for node, server in site.server_of_node.items():
        row = observed.nodes.get(node)
        if row is None or row.is_down:
            continue
        is_ours = row.is_drained and row.reason.startswith(OUR_REASON)
        if server in desired.dead and not row.is_drained:
            found.append(Action("drain", name=node, comment=f"{OUR_REASON} no accelerator of {server} works"))
        if server not in desired.dead and is_ours:
            found.append(Action("resume", name=node))
    return found

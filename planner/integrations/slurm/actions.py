"""What a tick does to Slurm, switches and locks: where each job is, beside where it should be."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from planner.integrations.slurm import starts
from planner.integrations.slurm.allocations import Allocation
from planner.integrations.slurm.arrays import split_off, why_behind, why_waiting
from planner.integrations.slurm.config import SlurmSite
from planner.integrations.slurm.controller_events import is_sent
from planner.integrations.slurm.hooks import job_name
from planner.integrations.slurm.job_requests import Written
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
    told: Allocation | None = None
    comment: str = ""
    gres: str = ""
    user_id: int = 0
    name: str = ""
    """of a node, or of a job of the driver"""
    task: int = 0
    """of an array"""
    in_s: float = 0.0
    """seconds from now"""


def acts(world: ObservedState, wants: DesiredState, memory: Memory, site: SlurmSite, now_s: float) -> list[Action]:
    """All acts of a tick in order: first everything is given back, then jobs are stopped, then others are placed.

    Switches come last, since they may be slow: none of the other acts builds upon theirs before the next tick.
    """
    counted = starts.failed(world, now_s)
    world = replace(world, told={**world.told, **counted}) if counted else world
    first = [Action("mark", job, told) for job, told in counted.items()]
    first += [Action("heard", job) for job in world.reports]
    forgotten = [job for job in world.told if _is_forgotten(world, wants, job)]
    first += [Action("forget", job) for job in forgotten]
    locks = _locks(world, forgotten)
    rest: list[Action] = []
    for job, asks in sorted(world.ours.items(), key=lambda each: world.jobs[each[0]].in_order):
        row, place = world.jobs[job], wants.places.get(job)
        told = None if job in forgotten else world.told.get(job)
        if place is None:
            rest += _without_place(world, wants, row, asks, told)
            rest += [Action("split", job, task=task) for task in split_off(world, site, job, now_s)]
        elif not (row.waits and row.is_held):
            rest += _kept(row, asks, told, place, site, now_s)
        elif job_name(job) not in world.applied:
            rest += _placed(row, asks, told, place, locks)
    switches = [act for act in _switches(world, wants) if memory.switchings.is_due(act.name, now_s)]
    return first + rest + _notes(world, wants, memory, site, now_s) + _nodes(world, wants, site) + switches


def _switches(world: ObservedState, wants: DesiredState) -> Iterator[Action]:
    """Circuits that are on for jobs that hold nothing, whose epilog has failed or has not come; and the reverse."""
    for name in world.applied:
        job = number_of(name)
        if job is not None and world.is_clear(job):
            yield Action("off", job, name=name)
    for job, place in wants.places.items():
        runs = job in world.ours and world.jobs[job].state == "RUNNING" and world.told.get(job) == place
        if runs and place.circuits and job_name(job) not in world.applied:
            yield Action("on", job, place, name=job_name(job))


def _is_forgotten(world: ObservedState, wants: DesiredState, job: int) -> bool:
    """What a job was told is given back: it holds nothing, and will not start there."""
    is_on = job_name(job) in world.applied
    return world.is_clear(job) and not is_on and (world.has_ended(job) or wants.places.get(job) != world.told[job])


def _locks(world: ObservedState, forgotten: list[int]) -> dict[str, int]:
    """Who has what: indices on nodes and light, by what jobs were told and by what is on."""
    found: dict[str, int] = {}
    for job, told in world.told.items():
        if job not in forgotten:
            found.update(dict.fromkeys(told.locks, job))
    for name, circuits in world.applied.items():
        number = number_of(name)
        found.update(dict.fromkeys(taken(circuits), -1 if number is None else number))
    return found


def _without_place(
    world: ObservedState, wants: DesiredState, row: JobRow, asks: Written, told: Allocation | None
) -> Iterator[Action]:
    """A job that the controller lets wait, or does not know, must hold nothing."""
    job = row.job_id
    if row.holds:
        is_stray = wants.knows(job) or is_sent(world, job) or (told is None and not row.takes_gpus)
        if is_stray and row.can_requeue and row.state != "COMPLETING":
            yield from _sent(row, told)
    elif row.waits and row.is_held:
        if asks.is_put_off and not row.waits_for_jobs:
            yield Action("put_on", job, comment=asks.text())
        elif row.waits_for_jobs and not asks.is_put_off and row.reason != "JobHeldAdmin":
            yield Action("put_off", job, comment=asks.text(is_put_off=True))
        elif row.waits_for_jobs and asks.is_put_off and row.reason != "JobHeldAdmin":
            yield Action("release", job)
    elif row.waits and not (asks.is_put_off and row.waits_for_jobs):
        yield from _marked(job, told)
        yield Action("hold", job)


def _placed(
    row: JobRow, asks: Written, told: Allocation | None, place: Allocation, locks: dict[str, int]
) -> Iterator[Action]:
    """A held job with a place: it is told once all of it is free, then released."""
    job = row.job_id
    if told == place:
        if told.restarts < row.restarts:
            yield Action("hold_for_admin", job)
            return
        if asks.at != place.digest:
            yield Action("place", job, place, asks.text(at=place.digest), asks.gres)
        yield Action("release", job)
        return
    if told is not None or any(locks.get(lock, job) != job for lock in place.locks):
        return
    locks.update(dict.fromkeys(place.locks, job))
    place = replace(place, restarts=row.restarts)
    yield Action("tell", job, place, user_id=row.user_id)
    yield Action("place", job, place, asks.text(at=place.digest), asks.gres)
    yield Action("release", job)


def _kept(
    row: JobRow, asks: Written, told: Allocation | None, place: Allocation, site: SlurmSite, now_s: float
) -> Iterator[Action]:
    """A job that waits for Slurm to start it, or runs: where it should, or it is stopped."""
    job = row.job_id
    if row.waits:
        if told != place or asks.at != place.digest:
            yield from _marked(job, told)
            yield Action("hold", job)
        else:
            steps = starts.next_step(row, asks, told, site.config.connect_tries, now_s)
            yield from (Action(do, job, comment=text, in_s=in_s) for do, text, in_s in steps)
    elif row.state == "RUNNING" and told == place and told.tries:
        yield Action("mark", job, replace(told, tries=0, again_s=0.0, said=""))
        yield Action("note", job, comment=asks.text(at=place.digest))
    elif row.holds and row.state != "COMPLETING" and told != place:
        yield from _sent(row, told)


def _sent(row: JobRow, told: Allocation | None) -> Iterator[Action]:
    if row.can_requeue:
        yield from _marked(row.job_id, told)
        yield Action("requeue_hold", row.job_id)


def _marked(job: int, told: Allocation | None) -> Iterator[Action]:
    if told is not None and not told.leaves:
        yield Action("mark", job, replace(told, leaves=True))


def _notes(world: ObservedState, wants: DesiredState, memory: Memory, site: SlurmSite, now_s: float) -> list[Action]:
    """Why jobs wait, where what stands in AdminComment is out of date: a few in each tick, in turn."""
    found = []
    for job, asks in world.ours.items():
        row = world.jobs[job]
        if not row.waits or job in wants.places or asks.is_put_off:
            continue
        why = why_waiting(world, wants, memory, job)
        if not why and not wants.knows(job) and world.may_run(job, now_s):
            why = why_behind(world, site, job, now_s)
        text = asks.text(why=why)
        if why and text != row.admin_comment.strip():
            found.append(Action("note", job, comment=text))
    found.sort(key=lambda act: (act.job <= memory.notes_from, act.job))
    if found:
        memory.notes_from = found[:MOST_NOTES][-1].job
    return found[:MOST_NOTES]


def _nodes(world: ObservedState, wants: DesiredState, site: SlurmSite) -> list[Action]:
    """Nodes on which no accelerator works are drained in Slurm, until one does."""
    found = []
    for node, server in site.server_of_node.items():
        row = world.nodes.get(node)
        if row is None or row.is_down:
            continue
        is_ours = row.is_drained and row.reason.startswith(OUR_REASON)
        if server in wants.dead and not row.is_drained:
            found.append(Action("drain", name=node, comment=f"{OUR_REASON} no accelerator of {server} works"))
        if server not in wants.dead and is_ours:
            found.append(Action("resume", name=node))
    return found

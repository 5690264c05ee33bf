"""What the controller is told in a tick: how Slurm differs from what it believes."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Literal

from planner.controller.settings import Request
from planner.integrations.slurm.arrays import LIMITED, over_limit
from planner.integrations.slurm.config import SlurmSite
from planner.integrations.slurm.hooks import job_name
from planner.integrations.slurm.job_requests import Written, request_of
from planner.integrations.slurm.observed_state import OUR_REASON, DesiredState, Memory, ObservedState, Refusal
from planner.integrations.slurm.rows import JobRow
from planner.model.errors import InputError

Call = Literal["finish", "cancel", "fail", "repair", "drain", "undrain"]
UNFIT = "BadConstraints"
LOOK_AGAIN_S = 60.0
"""after Slurm has refused a place"""


@dataclass(frozen=True)
class ControllerEvent:
    """One call of the controller."""

    call: Call
    subject: str


def asked(
    world: ObservedState, wants: DesiredState, memory: Memory, site: SlurmSite, now_s: float
) -> dict[int, Request]:
    """What held jobs ask for that may run now as far as Slurm is concerned, in the order in which they were submitted.

    Those that cannot run are remembered with the reason, until they ask for something else.
    """
    found = {}
    for job, asks in sorted(world.ours.items(), key=lambda each: world.jobs[each[0]].in_order):
        row = world.jobs[job]
        if row.tasks or not world.may_run(job, now_s):
            continue
        if memory.is_refused(job, mark_of(row, asks), now_s):
            continue
        if row.reason == UNFIT and job in world.told:
            why = "Slurm finds no way to run it on the nodes of its place"
            memory.refused[job] = Refusal(mark_of(row, asks), why, now_s + LOOK_AGAIN_S)
            continue
        try:
            found[job] = request_of(row, asks, site.config, site.cluster.fabric.num_servers)
        except InputError as error:
            memory.refused[job] = Refusal(mark_of(row, asks), str(error))
    over = over_limit(world, wants, found)
    return {job: request for job, request in found.items() if job not in over}


def in_turn(requests: Sequence[Request], memory: Memory) -> list[Request]:
    """Each tenant's first, then each one's second and so on; first comes who was served longest ago."""
    before = Counter[str]()
    turns = []
    for request in requests:
        turns.append((before[request.tenant], memory.served_s.get(request.tenant, -inf)))
        before[request.tenant] += 1
    return [request for _, request in sorted(zip(turns, requests, strict=True), key=lambda each: each[0])]


def mark_of(row: JobRow, asks: Written) -> object:
    """What a job asks for: a refused one is looked at again once this has changed."""
    return asks.asks, row.comment, row.nice, row.time_limit_s, row.account


def ended(world: ObservedState, wants: DesiredState) -> list[ControllerEvent]:
    """Jobs of which nothing is left in Slurm."""
    gone = [job for job in wants.requests if world.has_ended(job)]
    return [ControllerEvent("finish" if job in wants.places else "cancel", job_name(job)) for job in gone]


def let_go(
    world: ObservedState, wants: DesiredState, asked: Mapping[int, Request], site: SlurmSite
) -> list[ControllerEvent]:
    """Jobs that the controller must forget, some of them to be submitted anew."""
    barred = {node for node, server in site.server_of_node.items() if server in wants.drained}
    leaving = [
        job for job in wants.requests if not world.has_ended(job) and _is_let_go(world, wants, asked, barred, job)
    ]
    return [ControllerEvent("cancel", job_name(job)) for job in leaving]


def _is_let_go(
    world: ObservedState, wants: DesiredState, asked: Mapping[int, Request], barred: set[str], job: int
) -> bool:
    row, place, told = world.jobs[job], wants.places.get(job), world.told.get(job)
    if job not in world.ours:
        return row.waits
    if not row.waits:
        return place != told and not row.can_requeue
    if place is not None and not barred.isdisjoint(place.nodes):
        return True
    if not row.is_held:
        return row.reason == LIMITED
    return job not in asked or (place is None and asked[job] != wants.requests[job])


def reported(world: ObservedState, wants: DesiredState) -> list[ControllerEvent]:
    """Parts that hooks found broken."""
    parts = {report.part for report in world.reports.values() if report.part is not None}
    return [ControllerEvent("fail", part) for part in sorted(parts - wants.failed)]


def health(world: ObservedState, wants: DesiredState, memory: Memory, site: SlurmSite) -> list[ControllerEvent]:
    """Servers that are down, or that take no jobs. What others than Slurm found broken stays so while a node is up."""
    found: list[ControllerEvent] = []
    strange = strangers(world, wants)
    for node, server in site.server_of_node.items():
        row = world.nodes.get(node)
        is_down = row is None or row.is_down
        is_left = node in strange or (row is not None and row.is_drained and not row.reason.startswith(OUR_REASON))
        if is_down:
            memory.broken.discard(server)
        if is_down != (server in wants.failed) and server not in memory.broken:
            found.append(ControllerEvent("fail" if is_down else "repair", server))
        has_left = server in wants.drained and (is_down or server not in wants.failed)
        if is_left != has_left:
            found.append(ControllerEvent("drain" if is_left else "undrain", server))
    return found


def strangers(world: ObservedState, wants: DesiredState) -> set[str]:
    """Nodes with GPUs in the hands of jobs that the controller does not know, and that it cannot send away."""
    found = set[str]()
    for job, row in world.jobs.items():
        told = world.told.get(job)
        if row.holds and not wants.knows(job) and (row.takes_gpus or told is not None) and not is_sent(world, job):
            found.update(world.nodes_of(row))
    return found


def is_sent(world: ObservedState, job: int) -> bool:
    """The planner has stopped a job, or is about to, so that it waits again."""
    row, told = world.jobs[job], world.told.get(job)
    return job in world.ours and row.can_requeue and told is not None and told.leaves

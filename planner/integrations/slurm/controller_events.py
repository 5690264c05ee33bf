"""Events for the controller: how Slurm differs from what it believes."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Literal

from planner.controller.settings import Request
from planner.integrations.slurm.arrays import LIMITED, over_limit
from planner.integrations.slurm.config import SlurmSite
from planner.integrations.slurm.hooks import job_name
from planner.integrations.slurm.job_requests import JobDescriptor, request_of
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
    observed: ObservedState, desired: DesiredState, memory: Memory, site: SlurmSite, now_s: float
) -> dict[int, Request]:
    """Requests of held jobs that may run now as far as Slurm is concerned, in the order in which they were submitted.

    Those that cannot run are remembered with the reason, until they ask for something else.
    """
    found = {}
    for job, descriptor in sorted(observed.ours.items(), key=lambda each: observed.jobs[each[0]].in_order):
        row = observed.jobs[job]
        if row.tasks or not observed.may_run(job, now_s):
            continue
        if memory.is_refused(job, mark_of(row, descriptor), now_s):
            continue
        if row.reason == UNFIT and job in observed.allocations:
            why = "Slurm finds no way to run it on the nodes of its place"
            memory.refused[job] = Refusal(mark_of(row, descriptor), why, now_s + LOOK_AGAIN_S)
            continue
        try:
            found[job] = request_of(row, descriptor, site.config, site.cluster.fabric.num_servers)
        except InputError as error:
            memory.refused[job] = Refusal(mark_of(row, descriptor), str(error))
    over = over_limit(observed, desired, found)
    return {job: request for job, request in found.items() if job not in over}


def in_turn(requests: Sequence[Request], memory: Memory) -> list[Request]:
    """Each tenant's first, then each one's second and so on; first comes who was served longest ago."""
    before = Counter[str]()
    turns = []
    for request in requests:
        turns.append((before[request.tenant], memory.served_s.get(request.tenant, -inf)))
        before[request.tenant] += 1
    return [request for _, request in sorted(zip(turns, requests, strict=True), key=lambda each: each[0])]


def mark_of(row: JobRow, descriptor: JobDescriptor) -> object:
    """Mark of what a job asks for: a refused one is looked at again once it has changed."""
    return descriptor.request, row.comment, row.nice, row.time_limit_s, row.account


def ended(observed: ObservedState, desired: DesiredState) -> list[ControllerEvent]:
    """Jobs of which nothing is left in Slurm."""
    gone = [job for job in desired.requests if observed.has_ended(job)]
    return [ControllerEvent("finish" if job in desired.places else "cancel", job_name(job)) for job in gone]


def let_go(
    observed: ObservedState, desired: DesiredState, asked: Mapping[int, Request], site: SlurmSite
) -> list[ControllerEvent]:
    """Jobs that the controller must forget, some of them to be submitted anew."""
    barred = {node for node, server in site.server_of_node.items() if server in desired.drained}
    leaving = [
        job
        for job in desired.requests
        if not observed.has_ended(job) and _is_let_go(observed, desired, asked, barred, job)
    ]
    return [ControllerEvent("cancel", job_name(job)) for job in leaving]


def _is_let_go(
    observed: ObservedState, desired: DesiredState, asked: Mapping[int, Request], barred: set[str], job: int
) -> bool:
    row, place, allocation = observed.jobs[job], desired.places.get(job), observed.allocations.get(job)
    if job not in observed.ours:
        return row.waits
    if not row.waits:
        return place != allocation and not row.can_requeue
    if place is not None and not barred.isdisjoint(place.nodes):
        return True
    if not row.is_held:
        return row.reason == LIMITED
    return job not in asked or (place is None and asked[job] != desired.requests[job])


def reported(observed: ObservedState, desired: DesiredState) -> list[ControllerEvent]:
    """Parts that hooks found broken."""
    parts = {report.part for report in observed.reports.values() if report.part is not None}
    return [ControllerEvent("fail", part) for part in sorted(parts - desired.failed)]


def health(observed: ObservedState, desired: DesiredState, memory: Memory, site: SlurmSite) -> list[ControllerEvent]:
    """Servers that are down, or that take no jobs. What others than Slurm found broken stays so while a node is up."""
    found: list[ControllerEvent] = []
    strange = strangers(observed, desired)
    for node, server in site.server_of_node.items():
        row = observed.nodes.get(node)
        is_down = row is None or row.is_down
        is_left = node in strange or (row is not None and row.is_drained and not row.reason.startswith(OUR_REASON))
        if is_down:
            memory.broken.discard(server)
        if is_down != (server in desired.failed) and server not in memory.broken:
            found.append(ControllerEvent("fail" if is_down else "repair", server))
        has_left = server in desired.drained and (is_down or server not in desired.failed)
        if is_left != has_left:
            found.append(ControllerEvent("drain" if is_left else "undrain", server))
    return found


def strangers(observed: ObservedState, desired: DesiredState) -> set[str]:
    """Nodes with GPUs held by jobs that the controller does not know, and that it cannot send away."""
    found = set[str]()
    for job, row in observed.jobs.items():
        allocation = observed.allocations.get(job)
        if (
            row.holds
            and not desired.knows(job)
            and (row.takes_gpus or allocation is not None)
            and not is_sent(observed, job)
        ):
            found.update(observed.nodes_of(row))
    return found


def is_sent(observed: ObservedState, job: int) -> bool:
    """The planner has stopped a job, or is about to, so that it waits again."""
    row, allocation = observed.jobs[job], observed.allocations.get(job)
    return job in observed.ours and row.can_requeue and allocation is not None and allocation.leaves

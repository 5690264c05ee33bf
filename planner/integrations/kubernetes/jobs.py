"""Jobs of a controller that pods stand for: submitted until they lie as pods can, and let go."""

import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import product
from typing import Any

from planner.controller.controller import Controller
from planner.controller.decisions import Move
from planner.controller.settings import Request
from planner.controller.view import JobState
from planner.integrations.kubernetes.config import KubernetesSite
from planner.integrations.kubernetes.pod_assignment import SplitError, pod_assignments_of
from planner.integrations.kubernetes.pod_groups import PodGroup
from planner.model.errors import InputError

Circuits = list[dict[str, Any]]
Applied = Callable[[], Mapping[str, Circuits]]
"""circuits that are surely on, by job; answered at once"""
IN_THE_QUEUE = "it has a place in the queue"
MOST_WAITING = 1_000_000
log = logging.getLogger("planner.kubernetes")


def all_jobs(controller: Controller) -> dict[str, JobState]:
    """Jobs that run or wait, by name."""
    view = controller.view(MOST_WAITING)
    return {state.request.name: state for state in (*view.running, *view.waiting)}


def placed(controller: Controller, site: KubernetesSite, pod_group: PodGroup, job: JobState | None) -> JobState:
    """The job of a pod group as it is now, submitted where it is new or another than was asked for; InputError.

    A place that splits a pod is given back for one with as many pods on each server; where there is none now, the job
    waits for that of the fewest servers.
    """
    if job is None or job.request not in pod_group.requests:
        job = _instead(controller, pod_group.request, job)
    wait_no_more(controller, job)
    if _is_whole(job, pod_group, site):
        return job
    for request in pod_group.even:
        job = _instead(controller, request, job)
        if job.place is not None:
            return job
    return _instead(controller, pod_group.even[0], job) if len(pod_group.even) > 1 else job


def _is_whole(job: JobState, pod_group: PodGroup, site: KubernetesSite) -> bool:
    """True if a job waits, or each server gives whole pods."""
    if job.place is not None:
        try:
            pod_assignments_of(job.place, pod_group.each, site)
        except SplitError:
            return False
    return True


def _instead(controller: Controller, request: Request, job: JobState | None) -> JobState:
    """A job anew, in the form of this request."""
    controller.prepare(request)
    if job is not None:
        leave(controller, job, ended=False)
    controller.submit(request)
    return controller.job(request.name)


def shrunk(controller: Controller, pod_group: PodGroup, job: JobState, kept: list[str]) -> bool:
    """Whether the job of a pod group that has become smaller goes on with these accelerators alone; else it holds what
    it has until it ends."""
    for request in pod_group.requests:
        try:
            controller.prepare(request)
            controller.shrink(request, kept)
        except InputError as error:
            log.info("job %s keeps its accelerators: %s", job.request.name, error)
        else:
            return True
    return False


def grown(controller: Controller, pod_group: PodGroup, job: JobState) -> str:
    """Why the running job of a pod group that has become larger goes on as it is; nothing where it has its new size.
    Where that may come it has a place in the queue from now on."""
    growth, refused = job.growth, ""
    is_queued = growth is not None and growth.request in pod_group.whole
    for waits, request in product((False,) if is_queued else (False, True), pod_group.whole):
        try:
            controller.prepare(request)
            told = controller.grow(request, waits=waits)
        except InputError as error:
            refused = refused or str(error)
        else:
            is_grown = any(isinstance(each, Move) and each.job == request.name for each in told)
            return "" if is_grown else f"{refused}; {IN_THE_QUEUE}"
    told_last = f"{refused}; {IN_THE_QUEUE}" if is_queued else refused
    return told_last if refused else "hosts are not added to a slice that runs"


def wait_no_more(controller: Controller, job: JobState | None) -> None:
    """A running job is as large as it is to be; it may have grown, or left, since it was looked at."""
    if job is not None and job.growth is not None:
        with suppress(InputError):
            if controller.job(job.request.name).growth is not None:
                controller.grow(job.request)


def leave(controller: Controller, job: JobState, *, ended: bool) -> None:
    """A job is not wanted any more, or has `ended`; it may have left already."""
    name = job.request.name
    try:
        if ended and job.state == "running":
            controller.finish(name)
        else:
            controller.cancel(name)
    except InputError:
        log.info("job %s has left already", name)


def dark(job: JobState, applied: Mapping[str, Any] | None) -> Circuits:
    """All circuits of a running job, if one of them is not on; `applied`: those that are, None where nobody need wait
    for them."""
    assert job.place is not None
    wanted: Circuits = job.place.circuits_json
    return [] if applied is None or applied.get(job.request.name) == wanted else wanted

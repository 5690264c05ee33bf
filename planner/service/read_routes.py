"""Routes of questions: what runs and waits, over which circuits, and what has been decided since."""

import asyncio
import secrets
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query
from fastapi import Request as Asked

from planner.controller import Controller
from planner.controller.history import columns
from planner.controller.view import JobState
from planner.integrations.exports.slices import slices_of
from planner.model.errors import ConflictError, UnknownError
from planner.model.instance import Instance
from planner.model.plan import Plan
from planner.service import middleware
from planner.service.context import CONFLICT, FAULTS, UNKNOWN, ServiceContext
from planner.service.lease_status import LeaseBody, lease_body
from planner.service.live_state import live_state, of_tenant
from planner.service.responses import Json, of_input, refusal
from planner.service.schemas import (
    Circuits,
    Fault,
    History,
    JobBody,
    JobList,
    News,
    SliceList,
    Verdict,
    Whole,
    event_body,
    job_body,
)
from planner.service.tenants import asker

MOST_WAIT_S = 30.0
MOST_NUMBER = 2**62
UNTOLD = ("seq", "at_s", "troubles")
"""fields of the floor that change without an event, and its number"""
AT_ONCE = 10
"""jobs of a list that are looked at before others have their turn"""
GONE: dict[int | str, dict[str, Any]] = {410: {"model": Fault, "description": "Not in the journal any more"}}
Name = Annotated[str, Path(min_length=1, description="A job by name, slashes as they are.")]
State = Literal["waiting", "running"]


def add(routes: APIRouter, site: ServiceContext) -> None:
    """Add all of them."""
    _jobs(routes, site)
    _decisions(routes, site)
    _whole(routes, site)
    _live(routes, site)
    _slices(routes, site)
    _lease(routes, site)


def _lease(routes: APIRouter, site: ServiceContext) -> None:
    @routes.get("/v1/lease", response_model=LeaseBody, responses=FAULTS)
    async def lease() -> Json:
        """Who leads, and for how long nothing was heard of it."""
        return Json(await site.service.ask(lambda controller: lease_body(controller.leadership), is_urgent=True))


def _jobs(routes: APIRouter, site: ServiceContext) -> None:
    @routes.get("/v1/jobs", response_model=JobList, responses=FAULTS)
    async def jobs(
        asked: Asked,
        state: Annotated[State | None, Query()] = None,
        offset: Annotated[int, Query(ge=0, le=MOST_NUMBER)] = 0,
        limit: Annotated[int, Query(ge=1, le=500)] = 100,
    ) -> Json:
        """Running jobs in the order of arrival, then waiting ones in the order in which they are served."""
        tenant = asker(asked.scope).tenant
        names = await site.service.ask(lambda controller: _names(controller, state, tenant))
        wanted, found = names[offset : offset + limit], list[JobState]()
        for i in range(0, len(wanted), AT_ONCE):
            some = wanted[i : i + AT_ONCE]
            found += await site.service.ask(partial(_known, names=some))
        return Json({"total": len(names), "jobs": [_body(site, job) for job in found]})

    @routes.get("/v1/jobs/{name:path}", response_model=JobBody, responses=FAULTS | UNKNOWN)
    async def job(asked: Asked, name: Name) -> Json:
        """Where a job runs, or why it waits."""
        found, tenant = await site.service.ask(lambda controller: controller.job(name)), asker(asked.scope).tenant
        if tenant not in (None, found.request.tenant):
            raise UnknownError("job", "job", f"no job '{name}' waits or runs; give one that does")
        return Json(_body(site, found))


def _names(controller: Controller, state: State | None, tenant: str | None) -> list[str]:
    running = controller.running if state != "waiting" else ()
    waiting = controller.waiting if state != "running" else ()
    return [name for name in (*running, *waiting) if tenant is None or controller.tenant(name) == tenant]


def _known(controller: Controller, names: Sequence[str]) -> list[JobState]:
    """Those jobs that have not left meanwhile."""
    found = []
    for name in names:
        with suppress(UnknownError):
            found.append(controller.job(name))
    return found


def _body(site: ServiceContext, job: JobState) -> dict[str, Any]:
    name, service = job.request.name, site.service
    trouble = service.troubles().get(name)
    return job_body(job, service.connected(name, job.place), None if trouble is None else trouble.said)


def _decisions(routes: APIRouter, site: ServiceContext) -> None:
    @routes.get("/v1/decisions", response_model=News, responses=FAULTS | GONE)
    async def decisions(
        asked: Asked,
        after: Annotated[int, Query(ge=0, le=MOST_NUMBER, description="`seq` of the answer before.")] = 0,
        limit: Annotated[int, Query(ge=1, le=200)] = 100,
        wait: Annotated[float, Query(ge=0, le=MOST_WAIT_S, description="Seconds, if there is nothing new.")] = 0.0,
    ) -> Json:
        """What has happened after an event, and what was decided."""
        service = site.service
        if after > service.seq:
            problem = f"the journal has {service.seq} events only: it is another one; read the state, and go on from it"
            return refusal(410, "decisions", "after", problem)
        if wait:
            middleware.extend(asked.scope, wait)
            await service.news(after, wait)
        try:
            events = await service.ask(lambda controller: controller.decided(after, limit))
        except UnknownError as error:
            return of_input(error, 410)
        return Json({"seq": events[-1].seq if events else after, "events": list(map(event_body, events))})


def _slices(routes: APIRouter, site: ServiceContext) -> None:
    turn = asyncio.Lock()

    @routes.get("/v1/slices", response_model=SliceList, responses=FAULTS | CONFLICT)
    async def slices() -> Json:
        """Slice resources of GKE for running jobs of whole cubes, and inside cubes where `--kubernetes` tells the
        labels of their nodes; 409 where a cube would be in two, there are no such cubes, or labels do not fit."""
        async with turn:
            seq, found = await asyncio.to_thread(_planned, site.service.controller)
        try:
            return Json({"seq": seq, "slices": [] if found is None else slices_of(*found, *site.slice_names())})
        except ValueError as error:
            raise ConflictError("slices", "cluster", str(error)) from None


def _planned(controller: Controller) -> tuple[int, tuple[Instance, Plan] | None]:
    """What runs, and the number of the event after which it does: asked again where something happens meanwhile."""
    while True:
        seq, found = controller.seq, controller.plan()
        if controller.seq == seq:
            return seq, found


def _whole(routes: APIRouter, site: ServiceContext) -> None:
    service, turn = site.service, asyncio.Lock()

    @routes.get("/v1/state", response_model=dict[str, Any], responses=FAULTS)
    async def state() -> Json:
        """All that the journal says."""
        return Json(await service.ask(lambda controller: controller.state()))

    @routes.get("/v1/circuits", response_model=Circuits, responses=FAULTS)
    async def circuits() -> Json:
        """Circuits that must be on."""
        seq, running = await service.ask(lambda controller: (controller.seq, controller.running))
        network = {name: place.circuits for name, place in running.items()}
        memory = {name: place.memory for name, place in running.items() if place.memory}
        upper = {name: place.upper for name, place in running.items() if place.upper}
        return Json({"seq": seq, "circuits": network, "memory": memory, "upper": upper})

    @routes.get("/v1/plan", response_model=Whole, responses=FAULTS)
    async def plan() -> Json:
        """What runs, for `planner check`, `planner explain` and others that read files."""
        async with turn:
            found = await asyncio.to_thread(service.controller.plan)
        return Json({"instance": found and found[0], "plan": found and found[1]})

    @routes.get("/v1/check", response_model=Verdict, responses=FAULTS)
    async def checked() -> Json:
        """Every rule that what runs breaks, by all checks: slow."""
        async with turn:
            return Json({"violations": list(map(asdict, await asyncio.to_thread(service.controller.check)))})


def _live(routes: APIRouter, site: ServiceContext) -> None:
    service, process = site.service, secrets.token_hex(8)

    @routes.get("/v1/floor", response_model=dict[str, Any], responses=FAULTS)
    async def floor_plan(
        asked: Asked,
        since: Annotated[int, Query(ge=-1, le=MOST_NUMBER, description="`seq` of the answer before.")] = -1,
        view: Annotated[str, Query(max_length=200, description="`view` of the answer before.")] = "",
    ) -> Json:
        """What the live page shows; to a tenant, jobs of others without names. If no event has happened since, only
        what may change without one: not where the answer before was of another process, or for another tenant."""
        tenant = asker(asked.scope).tenant
        found = await asyncio.to_thread(live_state, service.controller, service.troubles())
        whole = of_tenant(found, tenant) | {"view": f"{process}/{tenant or ''}"}
        is_same = (found["seq"], whole["view"]) == (since, view)
        return Json({name: whole[name] for name in UNTOLD} if is_same else whole)

    @routes.get("/v1/history", response_model=History, responses=FAULTS)
    async def recent_history() -> Json:
        """Accelerators held and jobs waiting after each of the last events that the journal still has."""
        return Json(columns(await asyncio.to_thread(service.controller.history)))

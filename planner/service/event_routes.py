"""Routes of events: jobs come and go, parts fail and work again."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi import Request as Asked
from pydantic import Field

from costmodel.spec import Spec
from planner.controller import Controller, Decision, Request
from planner.model import files
from planner.model.errors import InputError, UnknownError
from planner.service import middleware
from planner.service.context import BODY, CONFLICT, EVENT, FAULTS, UNKNOWN, ServiceContext, key_of
from planner.service.openapi import body_of, parameters_of
from planner.service.responses import Json
from planner.service.schemas import OutlookBody, ProposalBody, outlook_body, proposal_body
from planner.service.tenants import Who, asker

MOST_JOBS = 1000
MOST_BUDGET_S = 5.0
MOST_PROOF_S = 30.0
ASKED = FAULTS | CONFLICT | BODY
NAMED: dict[str, Any] = EVENT | {"responses": EVENT["responses"] | UNKNOWN}
JOB = "A job by name, slashes as they are."
PART = "A part, such as s0.t1, s0.t1:port or s0>s1%230 (a fiber), or all of a server."
SERVER = "A server, such as s0."
Call = Callable[..., tuple[Decision, ...]]
"""an event of a controller: takes a name, and a key"""


class Jobs(Spec):
    """Jobs that arrive together are looked at together."""

    jobs: tuple[Request, ...] = Field(min_length=1, max_length=MOST_JOBS)


class Budget(Spec):
    """How long to look again; everybody else waits meanwhile."""

    budget_s: float = Field(default=1.0, ge=0, le=MOST_BUDGET_S)


class Accepted(Spec):
    """A proposal that is to be carried out."""

    proposal: str
    """its name, as `GET /v1/defrag` gave it; nothing may have happened since"""


class Smaller(Spec):
    """A running job that is to have fewer accelerators."""

    job: Request
    """as it was submitted, with the accelerators and constraints of now"""
    kept: tuple[str, ...] = Field(min_length=1)
    """accelerators that it keeps: as many as it asks for now"""


BODIES = (Request, Jobs, Budget, Accepted, Smaller)


def add(routes: APIRouter, site: ServiceContext) -> None:
    """Add all of them. Keys and names are read by hand: what declared parameters cost is a tenth of an event."""
    _submit(routes, site)
    _resize(routes, site)
    _ask(routes, site)
    _defrag(routes, site)
    named = _Named(routes, site)
    named.add("POST", "/v1/jobs/{name:path}/finish", Controller.finish, "A running job has ended.", JOB)
    said = "A job is not wanted any more, whether it waits or runs."
    named.add("DELETE", "/v1/jobs/{name:path}", Controller.cancel, said, JOB)
    named.add("POST", "/v1/parts/{name}/fail", _fail, "A part has failed: jobs on it move, or wait again.", PART)
    named.add("POST", "/v1/parts/{name}/repair", Controller.repair, "A part that failed works again.", PART)
    said = "A server takes no more jobs; those on it that may move do, others end there."
    named.add("POST", "/v1/servers/{name}/drain", Controller.drain, said, SERVER)
    named.add("POST", "/v1/servers/{name}/undrain", Controller.undrain, "A drained server takes jobs again.", SERVER)


def _submit(routes: APIRouter, site: ServiceContext) -> None:
    @routes.post("/v1/jobs", **EVENT, openapi_extra=parameters_of() | body_of(Request, Jobs))
    async def submit(asked: Asked) -> Json:
        """A job wants to run, or several that arrive together. Again with the same content: what it does."""
        who = asker(asked.scope)
        key, requests = who.key(key_of(asked)), _requests(asked.scope.get("json"), site, who)
        await site.preparation.of(requests)
        call = partial(Controller.submit_all, requests=requests, key=key)
        return await site.event("submit", call, who.visible(request.name for request in requests))

    @routes.post("/v1/replan", **EVENT, openapi_extra=parameters_of() | body_of(Budget, is_required=False))
    async def replan(asked: Asked) -> Json:
        """Look again at all that waits; jobs move where that pays."""
        key, given = key_of(asked), asked.scope.get("json")
        budget_s = files.validate(Budget, {} if given is None else given, "body").budget_s
        return await site.event("replan", lambda controller: controller.replan(budget_s, key=key))


def _resize(routes: APIRouter, site: ServiceContext) -> None:
    @routes.post("/v1/grow", **NAMED, openapi_extra=parameters_of() | body_of(Request))
    async def grow(
        asked: Asked, wait: Annotated[bool, Query(description="In the queue, where it cannot be at once.")] = False
    ) -> Json:
        """A running job goes on with more accelerators beside its own: the job as it was submitted, with the numbers of
        now. No rank moves. A job that waits for more asks for what it has, and waits no longer."""
        request = _request(asked.scope.get("json"), site, asker(asked.scope))
        return await resized(asked, "grow", request, partial(Controller.grow, request=request, waits=wait))

    @routes.post("/v1/shrink", **NAMED, openapi_extra=parameters_of() | body_of(Smaller))
    async def shrink(asked: Asked) -> Json:
        """A running job goes on with some of its accelerators; the others are free."""
        given = files.validate(Smaller, asked.scope.get("json"), "body")
        request = _allowed(given.job, site, asker(asked.scope))
        return await resized(asked, "shrink", request, partial(Controller.shrink, request=request, kept=given.kept))

    async def resized(asked: Asked, event: str, request: Request, call: Call) -> Json:
        who = asker(asked.scope)
        key = who.key(key_of(asked))

        def owned(controller: Controller) -> tuple[Decision, ...]:
            _require_own(controller, request.name, who, has_key=key is not None)
            return call(controller, key=key)

        await site.preparation.of([request])
        return await site.event(event, owned, who.visible([request.name]))


def _defrag(routes: APIRouter, site: ServiceContext) -> None:
    @routes.get("/v1/defrag", response_model=ProposalBody, responses=FAULTS | CONFLICT)
    async def propose(budget: Annotated[float, Query(ge=0, le=MOST_BUDGET_S, description="Seconds.")] = 1.0) -> Json:
        """Moves of running jobs after which less is fragmented, with their price; nothing is decided."""
        return Json(proposal_body(await site.service.ask(lambda controller: controller.propose(budget))))

    @routes.post("/v1/defrag", **EVENT, openapi_extra=parameters_of() | body_of(Accepted))
    async def defrag(asked: Asked) -> Json:
        """Carry out the last proposal."""
        key, name = key_of(asked), files.validate(Accepted, asked.scope.get("json"), "body").proposal
        return await site.event("defrag", lambda controller: controller.consolidate(name, key=key))


def _ask(routes: APIRouter, site: ServiceContext) -> None:
    turn = asyncio.Lock()

    @routes.post("/v1/ask", response_model=OutlookBody, responses=ASKED, openapi_extra=body_of(Request))
    async def ask(
        asked: Asked, proof: Annotated[float, Query(ge=0, le=MOST_PROOF_S, description="Seconds to prove it.")] = 0.0
    ) -> Json:
        """What would become of a job if it were submitted now, and with `proof` what would let it in."""
        request = _request(asked.scope.get("json"), site, asker(asked.scope))
        try:
            await site.preparation.of([request], is_asked=True)
            found = await site.service.ask(lambda controller: controller.ask(request))
        finally:
            site.preparation.tidy()
        proven = None
        if proof:
            middleware.extend(asked.scope, proof)
            async with turn:
                proven = await asyncio.to_thread(site.service.controller.prove, request, proof)
        return Json(outlook_body(found, proven))


class _Named:
    """Routes of events of one thing that the path names."""

    def __init__(self, routes: APIRouter, site: ServiceContext) -> None:
        self._routes, self._site = routes, site

    def add(self, method: str, path: str, call: Call, said: str, of_name: str) -> None:
        event, site = call.__name__.strip("_"), self._site

        async def handle(asked: Asked) -> Json:
            who, name = asker(asked.scope), asked.path_params["name"]
            key = who.key(key_of(asked))

            def owned(controller: Controller) -> tuple[Decision, ...]:
                _require_own(controller, name, who, has_key=key is not None)
                return call(controller, name, key=key)

            return await site.event(event, owned, who.visible([name]))

        extra = parameters_of(of_name)
        self._routes.add_api_route(
            path, handle, methods=[method], name=event, description=said, openapi_extra=extra, **NAMED
        )


def _require_own(controller: Controller, name: str, who: Who, *, has_key: bool) -> None:
    """UnknownError for another tenant's job; one that has left may be known by a key, which is the tenant's own."""
    if who.tenant is None:
        return
    try:
        owner = controller.tenant(name)
    except UnknownError:
        if has_key:
            return
        raise
    if owner != who.tenant:
        raise UnknownError("job", "job", f"no job '{name}' waits or runs; give one that does")


def _fail(controller: Controller, part: str, *, key: str | None) -> tuple[Decision, ...]:
    try:
        return controller.fail(part, key=key)
    except InputError as error:
        if error.where == "failed":
            raise UnknownError("fail", error.field, error.problem) from None
        raise


def _requests(given: object, site: ServiceContext, who: Who) -> tuple[Request, ...]:
    """The jobs of a body, of the tenant whose token it is."""
    if isinstance(given, dict) and "jobs" in given:
        return tuple(_allowed(request, site, who) for request in files.validate(Jobs, given, "body").jobs)
    return (_request(given, site, who),)


def _request(given: object, site: ServiceContext, who: Who) -> Request:
    """The one job of a body."""
    return _allowed(files.validate(Request, given, "body"), site, who)


def _allowed(request: Request, site: ServiceContext, who: Who) -> Request:
    """A job, of the tenant whose token it is; jobs of Kubernetes are known by slashes in their names."""
    for field, text in (("name", request.name), ("tenant", request.tenant)):
        if not text.isprintable() or {".", ".."} & set(text.split("/")):
            raise InputError("body", field, f"{text!r} is no plain name: no control characters, no . or .. parts")
    if site.extender is not None and "/" in request.name:
        raise InputError("body", "name", f"{request.name!r} is as of a job of Kubernetes; leave out the slashes")
    return request if who.tenant is None else _of_tenant(request, who)


def _of_tenant(request: Request, who: Who) -> Request:
    """A job of whose token it is; InputError where it says otherwise, or wants to go before more than it may."""
    if "tenant" in request.model_fields_set and request.tenant != who.tenant:
        raise InputError("body", "tenant", f"the token is of tenant {who.tenant}; leave it out")
    if request.priority > who.most_priority:
        raise InputError("body", "priority", f"is more than {who.most_priority}, the most that this token may ask for")
    return request.model_copy(update={"tenant": who.tenant})

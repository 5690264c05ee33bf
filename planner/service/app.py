"""The application: routes over one service, and what they raise as answers."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from fastapi import Request as Asked
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from planner import __version__
from planner.model.errors import ConflictError, FullError, InputError, UnknownError, UnwrittenError
from planner.model.validation_messages import message
from planner.report.live import LIVE_HEADERS, live_html
from planner.service import event_routes, extender, read_routes
from planner.service.command_queue import BusyError, StoppingError
from planner.service.context import FAULTS, ServiceContext
from planner.service.lease_status import lease_body
from planner.service.middleware import METRICS, Middleware
from planner.service.openapi import NO_TOKEN, describe
from planner.service.options import Options
from planner.service.responses import Json, busy, of_input, refusal
from planner.service.schemas import Health
from planner.service.service import Service

FULL_S = 30
"""after which a client asks again whose job finds no memory"""
STOPPING_S = 5
"""after which a client asks again, at what takes the place of this service"""


def create_app(service: Service, options: Options) -> FastAPI:
    """Routes over a service, which starts and ends with the application."""
    site = ServiceContext(service)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        service.start()
        yield
        site.preparation.close()
        await asyncio.to_thread(service.close)

    app = _Guarded(
        options,
        site,
        title="photonplan",
        version=__version__,
        description="The planner inside a scheduler: events in, decisions out.",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    event_routes.add(app.router, site)
    read_routes.add(app.router, site)
    extender.add(app.router, site)
    _about(app, site, options)
    _errors(app)
    describe(app, event_routes.BODIES + extender.BODIES)
    return app


class _Guarded(FastAPI):
    """An application behind its middleware, which costs little to whoever is turned away."""

    def __init__(self, options: Options, site: ServiceContext, **settings: Any) -> None:
        super().__init__(**settings)
        self._middleware = Middleware(super().__call__, options, site.metrics, lambda: site.service.is_busy)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._middleware(scope, receive, send)


def _about(app: FastAPI, site: ServiceContext, options: Options) -> None:
    """The service itself: how it is, its figures, its page."""
    service, text = site.service, live_html()

    @app.get("/", include_in_schema=False)
    async def page() -> Response:
        """The live page, which holds no data: it asks for them with the token of its reader."""
        return Response(text, media_type="text/html", headers=LIVE_HEADERS)

    @app.get("/healthz", response_model=Health, responses={503: {"model": Health}}, openapi_extra=NO_TOKEN)
    async def health() -> Json:
        """Whether requests are taken; 503 where not, as where this stands by for another."""
        status = "lost" if service.is_lost else "stopping" if service.is_stopping else "ok"
        if status == "ok" and service.trouble is not None:
            status = "unwritable"
        if status == "ok" and service.is_standby:
            status = "standby"
        return Json({"status": status}, 200 if status == "ok" else 503)

    extra = NO_TOKEN if options.has_open_metrics else {}

    @app.get(METRICS, response_class=Response, responses=FAULTS | {200: {"content": {"text/plain": {}}}},
             openapi_extra=extra)  # fmt: skip
    async def metrics() -> Response:
        """Figures for Prometheus."""
        view, lease = await service.ask(lambda c: (c.view(0), lease_body(c.leadership)), is_urgent=True)
        return Response(site.metrics.text(view, lease, service), media_type="text/plain; version=0.0.4")


def _errors(app: FastAPI) -> None:
    """Turn the errors of routes into refusals of one form."""
    answers: dict[type[Exception], Any] = {
        UnknownError: lambda error: of_input(error, 404),
        ConflictError: lambda error: of_input(error, 409),
        UnwrittenError: lambda error: of_input(error, 503, {"Retry-After": str(STOPPING_S)}),
        FullError: lambda error: of_input(error, 429, {"Retry-After": str(FULL_S)}),
        InputError: lambda error: of_input(error, 422),
        BusyError: lambda error: busy(),
        StoppingError: lambda error: refusal(
            503, "service", "", "takes no more requests", {"Retry-After": str(STOPPING_S), "Connection": "close"}
        ),
        RequestValidationError: _of_validation,
        HTTPException: _of_http,
        Exception: lambda error: refusal(500, "service", "", "has an error of its own; its log says more"),
    }
    for kind, answer in answers.items():
        app.add_exception_handler(kind, _handler(answer))


def _handler(answer: Any) -> Any:
    async def handle(asked: Asked, error: Exception) -> Response:
        response: Response = answer(error)
        return response

    return handle


def _of_validation(error: RequestValidationError) -> Json:
    """The first field that is wrong."""
    first = error.errors()[0]
    where, *field = map(str, first["loc"])
    return refusal(422, where, ".".join(field), message(first))


def _of_http(error: HTTPException) -> Json:
    """No such route, or not by this method."""
    return refusal(error.status_code, "request", "", str(error.detail), error.headers)

"""The application: the page of a session, what it asks, and progress as server-sent events."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from pydantic import AfterValidator, BaseModel, Field
from pydantic_core import to_json
from starlette.responses import Response, StreamingResponse

from planner import __version__
from planner.model.errors import ConflictError, InputError, UnknownError
from planner.model.validation_messages import message
from planner.report.studio import FRAMED_HEADERS, STUDIO_HEADERS, studio_html
from planner.service.responses import Json, of_input, refusal
from planner.studio.guard import Guard
from planner.studio.instance_file import digest
from planner.studio.search import RunningSearch
from planner.studio.session import Session
from planner.studio.variants import page_of_two

EVERY_S = 0.1
"""between two looks at a search"""
ALIVE_S = 10.0
"""after which a comment says that the stream goes on"""
MOST_NAMES = 64
Name = Annotated[str, Field(min_length=1, max_length=100)]


def _encodable(text: str) -> str:
    """ValueError for halves of characters, which no file holds."""
    text.encode()
    return text


class DraftBody(BaseModel):
    """The text as it is edited."""

    text: Annotated[str, AfterValidator(_encodable)]


class FieldBody(DraftBody):
    """One field as the reader writes it; "" leaves it out."""

    path: list[str | int] = Field(min_length=1, max_length=8)
    value: str


class JobLinesBody(DraftBody):
    """A job as lines of YAML: by its number, or a new one; without lines it is removed."""

    number: int | None = Field(default=None, ge=0)
    block: str | None = None


class PartsBody(DraftBody):
    """Parts that fail in the file."""

    names: list[Name] = Field(min_length=1, max_length=MOST_NAMES)


class PartBody(DraftBody):
    """A part that works again in the file."""

    name: Name


class SolveBody(DraftBody):
    """A text to solve."""

    policy: str = "cpsat"
    time_limit_s: float = Field(default=60.0, gt=0, le=86400)
    gap: float = Field(default=0.0, ge=0, lt=1)


class RepairBody(BaseModel):
    """Failures of parts while a variant runs."""

    variant: int
    names: list[Name] = Field(min_length=1, max_length=MOST_NAMES)


class VariantBody(BaseModel):
    """A variant, and the name to keep it by."""

    variant: int
    name: Name = "plan"


class SaveBody(DraftBody):
    """Where to write the text; `replaces`: the digest of the file that may be lost; `saved`: what the page knows as
    saved."""

    path: str = Field(min_length=1, max_length=1000)
    replaces: str | None = None
    saved: str | None = None


def create_app(session: Session, token: str) -> FastAPI:
    """Routes over one session, for whoever has its token."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        session.slot.stop()

    app = FastAPI(title="photonplan studio", version=__version__, docs_url=None, redoc_url=None, openapi_url=None,
                  lifespan=lifespan)  # fmt: skip
    app.add_middleware(Guard, token=token)
    _pages(app, session)
    _editing(app, session)
    _saving(app, session)
    _searching(app, session)
    _variants(app, session)
    _errors(app)
    return app


def _pages(app: FastAPI, session: Session) -> None:
    """What is shown: the page itself, plans, and two of them."""
    text = studio_html()

    @app.get("/")
    def page() -> Response:
        return Response(text, media_type="text/html", headers=STUDIO_HEADERS)

    @app.get("/plans/{number}.html")
    def plan(number: int) -> Response:
        return Response(session.variants[number].page, media_type="text/html", headers=FRAMED_HEADERS)

    @app.get("/plans/{first}/{second}.html")
    def two(first: int, second: int) -> Response:
        page = page_of_two(session.variants[first], session.variants[second])
        return Response(page, media_type="text/html", headers=FRAMED_HEADERS)

    @app.get("/api/state")
    def state() -> Json:
        return Json(session.state)


def _editing(app: FastAPI, session: Session) -> None:
    """Changes of the text, each answered with the text and its form."""

    @app.post("/api/text")
    def text(body: DraftBody) -> Json:
        return Json(session.draft(body.text))

    @app.post("/api/field")
    def field(body: FieldBody) -> Json:
        return Json(session.draft(session.set_field(body.text, body.path, body.value)))

    @app.post("/api/job")
    def job(body: JobLinesBody) -> Json:
        if body.block is not None:
            return Json(session.draft(session.set_job(body.text, body.number, body.block)))
        if body.number is None:
            raise InputError("job", "", "has neither a number nor lines; give one of them")
        return Json(session.draft(session.remove_job(body.text, body.number)))

    @app.post("/api/job/lines")
    def lines(body: JobLinesBody) -> Json:
        return Json({"block": session.job(body.text, body.number or 0)})

    @app.post("/api/fail")
    def fail(body: PartsBody) -> Json:
        return Json(session.draft(session.fail(body.text, body.names)))

    @app.post("/api/mend")
    def mend(body: PartBody) -> Json:
        return Json(session.draft(session.mend(body.text, body.name)))


def _saving(app: FastAPI, session: Session) -> None:
    """The file on disk, read anew and written."""

    @app.post("/api/open")
    def read() -> Json:
        return Json(session.draft(session.open()))

    @app.post("/api/save")
    def save(body: SaveBody) -> Json:
        path = Path(body.path).expanduser()
        try:
            session.save(path, body.text, body.replaces, body.saved)
        except ConflictError as error:
            said = {"where": error.where, "field": error.field, "problem": error.problem}
            return Json(said | {"digest": digest(path)}, 409)
        return Json({"path": str(path)})


def _searching(app: FastAPI, session: Session) -> None:
    """Solve, repair, stop, and how far it is."""

    @app.post("/api/solve")
    def solve(body: SolveBody) -> Json:
        return Json(session.start_solve(body.text, body.policy, body.time_limit_s, body.gap).data, 202)

    @app.post("/api/repair")
    def repair(body: RepairBody) -> Json:
        return Json(session.start_repair(body.variant, body.names).data, 202)

    @app.post("/api/stop")
    def stop() -> Json:
        session.slot.stop()
        return Json({})

    @app.get("/api/progress")
    async def progress() -> Response:
        """Events of the last search: `points`, each list once, and `ended`."""
        if session.slot.last is None:
            raise UnknownError("studio", "", "has not searched yet; solve first")
        events = _events(session.slot.last)
        return StreamingResponse(events, media_type="text/event-stream", headers={"Cache-Control": "no-store"})


async def _events(search: RunningSearch) -> AsyncIterator[str]:
    sent, quiet_s = 0, 0.0
    while True:
        ended, points = search.ended, search.points[sent:]
        if points:
            sent, quiet_s = sent + len(points), 0.0
            yield _event("points", points)
        if ended is not None:
            yield _event("ended", ended)
            return
        if quiet_s >= ALIVE_S:
            quiet_s = 0.0
            yield ": searching\n\n"
        await asyncio.sleep(EVERY_S)
        quiet_s += EVERY_S


def _event(name: str, content: Any) -> str:
    return f"event: {name}\ndata: {to_json(content, inf_nan_mode='null').decode()}\n\n"


def _variants(app: FastAPI, session: Session) -> None:
    """The list of variants, answered after each change."""

    @app.get("/api/variants")
    def variants() -> Json:
        return Json(session.variants.data)

    @app.post("/api/keep")
    def keep(body: VariantBody) -> Json:
        session.variants.keep(body.variant, body.name)
        return Json(session.variants.data)

    @app.post("/api/drop")
    def drop(body: VariantBody) -> Json:
        session.variants.drop(body.variant)
        return Json(session.variants.data)

    @app.post("/api/edit")
    def edit(body: VariantBody) -> Json:
        """Go on with the text of a variant."""
        return Json(session.draft(session.variants[body.variant].text))


def _errors(app: FastAPI) -> None:
    """Refusals in one form: where, field and problem."""
    statuses: dict[type[InputError], int] = {UnknownError: 404, ConflictError: 409, InputError: 422}

    def handler(status: int) -> Any:
        async def handle(asked: object, error: InputError) -> Json:
            return of_input(error, status)

        return handle

    for kind, status in statuses.items():
        app.add_exception_handler(kind, handler(status))

    @app.exception_handler(RequestValidationError)
    async def invalid(asked: object, error: RequestValidationError) -> Json:
        first = error.errors()[0]
        where, *field = map(str, first["loc"])
        return refusal(422, where, ".".join(field), message(first))

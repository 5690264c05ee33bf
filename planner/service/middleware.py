"""Checks of every request before it is served: rate, token, size, JSON, time; and its line in the log."""

import asyncio
import base64
import itertools
import logging
import re
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from planner.model.errors import InputError
from planner.service import request_body
from planner.service.metrics import Metrics
from planner.service.options import Options
from planner.service.rate_limit import RateLimit
from planner.service.responses import busy, of_input, refusal, too_many
from planner.service.tenants import OPERATOR, Tokens, Who

OPEN = frozenset({"/healthz", "/"})
"""need no token: they say nothing of any job"""
METRICS = "/metrics"
METHODS = frozenset({"GET", "POST", "DELETE", "HEAD", "OPTIONS", "PUT", "PATCH"})
"""told apart by the metrics"""
EVENTS = frozenset({"POST", "DELETE"})
"""methods of all that the controller must do: refused unread where it cannot"""
_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_PROCESS, _numbers = secrets.token_hex(4), itertools.count(1)
"""tell requests apart that bring no number"""
log = logging.getLogger("planner.serve")


@dataclass
class _Asked:
    """One request, and how it is answered."""

    scope: Scope
    send_on: Send
    began_s: float = field(default_factory=time.perf_counter)
    status: int = 0
    """0: nothing is sent yet"""
    request_id: str = ""

    def __post_init__(self) -> None:
        self.headers: dict[bytes, bytes] = dict(self.scope["headers"])
        given = self.headers.get(b"x-request-id", b"")
        self.request_id = given.decode() if _REQUEST_ID.fullmatch(given) else f"{_PROCESS}-{next(_numbers)}"

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message["headers"] = [*message.get("headers", ()), (b"x-request-id", self.request_id.encode())]
        await self.send_on(message)

    @property
    def route(self) -> str:
        """The path as routes write it, so that there are few of them."""
        return getattr(self.scope.get("route"), "path", "none")

    @property
    def address(self) -> str:
        client = self.scope.get("client")
        return client[0] if client else ""


def _password(given: bytes) -> bytes:
    """Of basic authentication, the only one that kube-scheduler has: its extenders are addresses, such as
    http://planner:TOKEN@host:8642/scheduler. Nothing for what is none."""
    try:
        return base64.b64decode(given, validate=True).partition(b":")[2]
    except ValueError:
        return b""


def extend(scope: Scope, by_s: float) -> None:
    """Give a request so much more time, which it is going to wait for what may not happen."""
    limit: asyncio.Timeout = scope["limit"]
    end_s = limit.when()
    assert end_s is not None
    limit.reschedule(end_s + by_s)


class Middleware:
    """Around the application."""

    def __init__(self, app: ASGIApp, options: Options, metrics: Metrics, is_busy: Callable[[], bool]) -> None:
        """`is_busy`: whether the controller takes no more calls now, so that events need not be read."""
        self._app, self._options, self._metrics, self._is_busy = app, options, metrics, is_busy
        self._tokens = Tokens(options.token, options.tenants)
        self._rates = RateLimit(options.rate_per_s)
        self._open = OPEN | ({METRICS} if options.has_open_metrics else set())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        asked = _Asked(scope, send)
        try:
            async with asyncio.timeout(self._options.timeout_s) as scope["limit"]:
                await self._answer(asked, receive)
        except request_body.GoneError:
            asked.status = 499
        except TimeoutError:
            problem = "took too long; if it was an event it may have happened: ask again, with the same Idempotency-Key"
            if not asked.status:
                await refusal(504, "request", "", problem)(scope, receive, asked.send)
        except Exception:
            log.exception("a request failed", extra={"fields": {"request_id": asked.request_id}})
        self._tell(asked)

    async def _answer(self, asked: _Asked, receive: Receive) -> None:
        refused = self._refused(asked)
        if refused is None and (b"content-length" in asked.headers or b"transfer-encoding" in asked.headers):
            body, refused = await self._body(asked, receive)
            receive = request_body.again(body, receive)
        await (refused or self._app)(asked.scope, receive, asked.send)

    def _refused(self, asked: _Asked) -> Response | None:
        """By whom it is, how often, and whether there is room; before anything of it is read."""
        path = asked.scope["path"]
        if path != "/healthz" and not self._rates.allows(asked.address):
            return too_many("rate", f"more than {self._options.rate_per_s:g} requests per second come from you")
        who = OPERATOR if path in self._open else self._who(asked.headers.get(b"authorization", b""))
        if who is not None:
            asked.scope["who"] = who
            if not who.may(path) and path not in self._open:
                return refusal(
                    403, "request", "Authorization", f"tenant {who.tenant} may not ask this; an operator may"
                )
            return busy() if asked.scope["method"] in EVENTS and self._is_busy() else None
        problem = "give the token of this service: `Authorization: Bearer TOKEN`"
        return refusal(401, "request", "Authorization", problem, {"WWW-Authenticate": 'Bearer realm="photonplan"'})

    def _who(self, given: bytes) -> Who | None:
        """The bearer of a token; None for a wrong one."""
        scheme, _, token = given.partition(b" ")
        kind, token = scheme.lower(), token.strip()
        if kind == b"basic":
            token = _password(token)
        return self._tokens.who(token) if kind in (b"bearer", b"basic") else None

    async def _body(self, asked: _Asked, receive: Receive) -> tuple[bytes, Response | None]:
        """The body, and the refusal of one that cannot be used; its value lies in the scope."""
        most = self._options.most_body_bytes
        over = refusal(413, "body", "", f"is larger than {most} bytes, the most that is read", {"Connection": "close"})
        length = asked.headers.get(b"content-length", b"0")
        if len(length) > 18 or (length.isdigit() and int(length) > most):
            return b"", over
        try:
            body = await request_body.read(receive, most)
            kind = asked.headers.get(b"content-type", b"application/json").partition(b";")[0].strip().lower()
            if body and kind != b"application/json" and not kind.endswith(b"+json"):
                return b"", refusal(415, "request", "Content-Type", "must be application/json")
            asked.scope["json"] = request_body.parse(body) if body else None
        except request_body.OversizedError:
            return b"", over
        except InputError as error:
            return b"", of_input(error, 422)
        return body, None

    def _tell(self, asked: _Asked) -> None:
        """Neither query nor headers, which may hold a secret; of a flood only the count is kept."""
        method = asked.scope["method"]
        self._metrics.requests.labels(method if method in METHODS else "other", asked.route, str(asked.status)).inc()
        fields = {
            "request_id": asked.request_id,
            "method": method,
            "path": asked.scope["path"],
            "status": asked.status,
            "took_s": round(time.perf_counter() - asked.began_s, 6),
            "address": asked.address,
        }
        log.log(logging.DEBUG if asked.status == 429 else logging.INFO, "request", extra={"fields": fields})

"""The switches behind HTTP: an ASGI application that finds the switch of a request and answers for it."""

import base64
import hmac
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from planner.integrations.switch_emulator.emulator import Emulator
from planner.integrations.switch_emulator.errors import RestconfError
from planner.integrations.switch_emulator.faults import FaultKind, RequestClass
from planner.integrations.switch_emulator.http_messages import JSON, HttpRequest, HttpResponse, refused
from planner.integrations.switch_emulator.restconf import ROOT

HOST_META = "/.well-known/host-meta"
XRD = "<XRD xmlns='http://docs.oasis-open.org/ns/xri/xrd-1.0'><Link rel='restconf' href='{}'/></XRD>"
REFEREE = "referee"
"""name of the address that is no switch"""
MOST_BODY_BYTES = 4 << 20


@dataclass(frozen=True)
class Login:
    """Basic authentication, one account for all switches."""

    user: str
    password: str

    def admits(self, header: str) -> bool:
        wanted = base64.b64encode(f"{self.user}:{self.password}".encode()).decode()
        return hmac.compare_digest(header.encode(), f"Basic {wanted}".encode())


class Application:
    """One callable for all sockets: a switch is known by the port that was asked, or by the first part of the path."""

    def __init__(self, emulator: Emulator, name_of_port: Mapping[int, str], login: Login | None = None) -> None:
        """`name_of_port`: switches with a port of their own, and REFEREE; others are found by path."""
        self._emulator, self._names, self._login = emulator, name_of_port, login

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        body = await _body(receive)
        headers = {key.decode("latin-1"): value.decode("latin-1") for key, value in scope["headers"]}
        path = scope["raw_path"].decode("latin-1")
        request = HttpRequest(scope["method"], path, headers, body, scope["query_string"].decode("latin-1"))
        answer = self._answer(scope["server"][1], request)
        if answer is None:
            while (await receive())["type"] != "http.disconnect":
                pass
            return
        await _send(send, answer, has_body=request.method != "HEAD")

    def _answer(self, port: int, request: HttpRequest) -> HttpResponse | None:
        name = self._names.get(port, "")
        if name == REFEREE:
            return self._of_referee(request)
        if self._login is not None and not self._login.admits(request.headers.get("authorization", "")):
            refusal = RestconfError("access-denied", "user and password, please")
            return refused(refusal, {"WWW-Authenticate": 'Basic realm="sonic-ocs"'})
        if len(request.body) > MOST_BODY_BYTES:
            return refused(RestconfError("too-big", f"more than {MOST_BODY_BYTES} bytes"))
        prefix = ""
        if not name:
            name, _, _ = request.path.removeprefix("/").partition("/")
            prefix = f"/{name}"
        path = request.path.removeprefix(prefix)
        if name in self._emulator.switches and path == HOST_META:
            return HttpResponse(200, XRD.format(prefix + ROOT).encode(), media_type="application/xrd+xml")
        if name not in self._emulator.switches or not f"{path}/".startswith(f"{ROOT}/"):
            return refused(RestconfError("invalid-value", f"{request.path} is nothing here", status=404))
        inner = HttpRequest(request.method, path, request.headers, request.body, request.query)
        answer = self._emulator.answer(name, inner)
        if answer is not None and prefix and "Location" in answer.headers:
            moved = {**answer.headers, "Location": prefix + answer.headers["Location"]}
            return HttpResponse(answer.status, answer.body, moved, answer.media_type)
        return answer

    def _of_referee(self, request: HttpRequest) -> HttpResponse:
        """What happened, and what shall happen: not part of any standard."""
        found: Any
        if (request.method, request.path) == ("GET", "/light"):
            found = {
                "now_s": self._emulator.clock(),
                "light": [{**asdict(each), "until_s": None if each.is_on else each.until_s}
                          for each in self._emulator.light()],
            }  # fmt: skip
        elif (request.method, request.path) == ("GET", "/faults"):
            found = [asdict(each) for each in self._emulator.happened]
        elif (request.method, request.path) == ("POST", "/faults"):
            try:
                given = json.loads(request.body)
                draw = self._emulator.faults[given["switch"]]
                draw.plan(RequestClass(given["class"]), FaultKind(given["kind"]))
            except (ValueError, KeyError, TypeError) as error:
                return HttpResponse(400, json.dumps({"problem": f"switch, class and kind: {error}"}).encode(), {}, JSON)
            return HttpResponse(204)
        else:
            return HttpResponse(404, b'{"problem": "GET /light, GET /faults, POST /faults"}', {}, JSON)
        return HttpResponse(200, json.dumps(found).encode(), {}, JSON)


async def _body(receive: Any) -> bytes:
    parts, is_more, size = [], True, 0
    while is_more:
        message = await receive()
        if message["type"] == "http.disconnect":
            break
        size += len(message.get("body", b""))
        if size <= MOST_BODY_BYTES + 1:
            parts.append(message.get("body", b""))
        is_more = message.get("more_body", False)
    return b"".join(parts)


async def _send(send: Any, answer: HttpResponse, *, has_body: bool) -> None:
    headers = [(b"content-length", str(len(answer.body)).encode()), (b"cache-control", b"no-cache")]
    if answer.status == 204:
        headers = headers[1:]
    if answer.body:
        headers.append((b"content-type", answer.media_type.encode()))
    headers += [(key.lower().encode(), value.encode()) for key, value in answer.headers.items()]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body if has_body else b""})

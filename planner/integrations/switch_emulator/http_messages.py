"""Requests and answers of HTTP, as far as RESTCONF looks at them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from planner.integrations.switch_emulator.errors import RestconfError

YANG_JSON = "application/yang-data+json"
JSON = "application/json"


@dataclass(frozen=True)
class HttpRequest:
    """One request; the path as it was sent, percent-encoded."""

    method: str
    path: str
    headers: Mapping[str, str] = field(default_factory=dict)
    """names in small letters"""
    body: bytes = b""
    query: str = ""


@dataclass(frozen=True)
class HttpResponse:
    """One answer."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    media_type: str = YANG_JSON


def refused(error: RestconfError, headers: Mapping[str, str] | None = None) -> HttpResponse:
    return HttpResponse(error.status, error.body, headers or {})


def require_accepted(request: HttpRequest) -> None:
    """406 where the client takes no JSON of YANG."""
    given = request.headers.get("accept", "*/*")
    if given == YANG_JSON:
        return
    accepted = [part.partition(";")[0].strip() for part in given.split(",")]
    if not {YANG_JSON, "application/*", "*/*"} & set(accepted):
        raise RestconfError("invalid-value", f"only {YANG_JSON} is answered", status=406)


def require_json(request: HttpRequest) -> None:
    """415 where the body is something else than JSON of YANG."""
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given != YANG_JSON:
        raise RestconfError("invalid-value", f"the body must be {YANG_JSON}, not '{given}'", status=415)

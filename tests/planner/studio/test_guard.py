"""Who may ask a studio: its own page, by a local name, after the token was shown once."""

import asyncio
from typing import Any

import pytest

from planner.studio.guard import Guard

OWN = [("host", "127.0.0.1:8643"), ("cookie", "a=b; photonplan-studio-8643=secret")]
JSON = [("content-type", "application/json"), ("origin", "http://127.0.0.1:8643")]


def _asked(headers: list[tuple[str, str]], *, method: str = "GET", path: str = "/api/state", query: str = "") -> Any:
    """Status and headers of the answer; 200 of the application behind."""
    sent: list[Any] = []

    async def behind(scope: Any, receive: Any, send: Any) -> None:
        sent.append({"status": 200, "headers": []})

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": method, "path": path, "query_string": query.encode(),
             "headers": [(name.encode(), value.encode()) for name, value in headers]}  # fmt: skip
    asyncio.run(Guard(behind, "secret")(scope, None, send))  # type: ignore[arg-type]
    return sent[0]["status"], dict(sent[0]["headers"])


def test_the_token_becomes_a_cookie_of_this_site_alone() -> None:
    status, headers = _asked([("host", "127.0.0.1:8643")], path="/", query="token=secret")
    assert status == 303
    assert headers[b"location"] == b"/"
    cookie = headers[b"set-cookie"].decode()
    assert "photonplan-studio-8643=secret" in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert _asked(OWN)[0] == 200


@pytest.mark.parametrize(
    ("status", "headers", "more"),
    [
        (403, [("host", "127.0.0.1:8643")], {}),
        (403, [("host", "127.0.0.1:8643")], {"path": "/", "query": "token=guess"}),
        (403, [("host", "127.0.0.1:8643"), ("cookie", "photonplan-studio-8643=guess")], {}),
        (403, [("host", "127.0.0.1:8644"), OWN[1]], {}),
        (421, [("host", "evil.example:8643"), OWN[1]], {}),
        (421, [OWN[1]], {}),
        (403, OWN, {"method": "POST"}),
        (403, [*OWN, JSON[0], ("origin", "http://evil.example")], {"method": "POST"}),
        (403, [*OWN, JSON[0], ("origin", "http://127.0.0.1:9999")], {"method": "POST"}),
        (403, [*OWN, ("content-type", "text/plain"), JSON[1]], {"method": "POST"}),
        (413, [*OWN, *JSON, ("content-length", str(2**30))], {"method": "POST"}),
        (200, [*OWN, *JSON], {"method": "POST"}),
        (200, [("host", "localhost:8643"), OWN[1]], {}),
        (200, [("host", "[::1]:8643"), OWN[1]], {}),
    ],
)
def test_others_are_refused(status: int, headers: list[tuple[str, str]], more: dict[str, str]) -> None:
    assert _asked(headers, **more)[0] == status

"""Who may ask: the browser that was led here with the token of the session, from its own page, by a local name."""

import hmac
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

LOCAL = ("127.0.0.1", "localhost", "[::1]")
"""names by which a browser on this machine, or at the end of a tunnel, reaches the studio"""
CLOSED = "This studio is for whoever started it: open the address that `planner studio` printed, with its token."
MOST_BYTES = 80 * 2**20
"""of a request"""


class Guard:
    """Around the application: the token comes once in the address and stays as a cookie that no other site may use.

    A name that is not local is refused, so that no foreign page can reach the studio by a name of its own; so are
    changes asked for by any page but its own.
    """

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app, self._token = app, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refused = self._refused(scope) if scope["type"] == "http" else None
        await (refused or self._app)(scope, receive, send)

    def _refused(self, scope: Scope) -> Response | None:
        """The answer to a request that is not served."""
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        host = headers.get("host", "")
        name, _, port = host.rpartition(":")
        if (name or host) not in LOCAL and host not in LOCAL:
            return PlainTextResponse("This is no name of a studio; use 127.0.0.1.", 421)
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        cookie = f"photonplan-studio-{port or 80}"
        if scope["path"] == "/" and given and self._is_token(given):
            answer = RedirectResponse("/", 303)
            answer.set_cookie(cookie, self._token, httponly=True, samesite="strict")
            return answer
        if not self._is_token(_cookie(headers.get("cookie", ""), cookie)):
            return PlainTextResponse(CLOSED, 403)
        if scope["method"] != "GET" and not _is_own(headers, host):
            return PlainTextResponse("Only the page of the studio may ask this.", 403)
        if int(headers.get("content-length", "0") or 0) > MOST_BYTES:
            return PlainTextResponse("That is too much at once.", 413)
        return None

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self._token.encode())


def _cookie(text: str, name: str) -> str:
    try:
        found = SimpleCookie(text).get(name)
    except CookieError:
        return ""
    return "" if found is None else found.value


def _is_own(headers: dict[str, str], host: str) -> bool:
    """Whether JSON comes from a page of this address."""
    is_json = headers.get("content-type", "").partition(";")[0].strip() == "application/json"
    return is_json and headers.get("origin", f"http://{host}") == f"http://{host}"

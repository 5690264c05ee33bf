"""A small client of the Kubernetes API: what the planner needs of it, and nothing is tried twice behind its back."""

import json
import logging
import math
import ssl
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

import httpx

from planner.integrations.kubernetes.client_config import ClientConfig
from planner.integrations.kubernetes.config import Object

log = logging.getLogger("planner.kubernetes")
TIMEOUT_S = 10.0
MOST_PAUSE_S = 60.0
"""that an answer may ask for by Retry-After"""
_NO_RIGHT = "is forbidden: User "
"""in what RBAC answers"""
STALE = (404, 409)
"""answers: an object is gone, or is another by now"""
GONE, BUSY = 410, 429
"""answers: the version is forgotten; too many requests"""
PAGE = 500
"""objects of one page of a list"""
INITIAL = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}
"""options of a watch that tells all objects first"""


class ApiError(Exception):
    """The API could not be asked, or refused; the text holds no secret."""

    def __init__(self, status: int, said: str, pause_s: float = 0.0) -> None:
        super().__init__(f"{status}: {said}" if status else said)
        self.status = status
        """of HTTP; 0 where there was no answer"""
        self.pause_s = pause_s
        """time for which the API asks to be left alone"""

    @property
    def is_of_all(self) -> bool:
        """True if other requests would fail as well: the API is down, has too many of them, does not know us, or gives
        us no right to any of the kind. What webhooks and policies deny is 403, too, and of one object."""
        has_no_right = self.status == 403 and _NO_RIGHT in str(self)
        return has_no_right or self.status in (0, 401, BUSY) or self.status >= 500


class NoAnswerError(ApiError):
    """Nobody was there, or nothing was answered in time: another request would wait as long."""


class SilenceError(ApiError):
    """A watch was answered, and told nothing for longer than it may."""


@contextmanager
def refusals_logged() -> Iterator[None]:
    """What the API refuses of one object is logged, so that others go on; ApiError where it is of all."""
    try:
        yield
    except ApiError as error:
        if error.is_of_all:
            raise
        log.log(logging.INFO if error.status in STALE else logging.WARNING, "%s", error)


class KubernetesClient:
    """Objects of one cluster by path, such as /api/v1/namespaces/a/pods/b.

    Where an answer says Retry-After, nothing is asked until then: ApiError at once."""

    def __init__(self, access: ClientConfig, clock: Callable[[], float] = time.monotonic) -> None:
        self._access, self._clock = access, clock
        self._quiet_until_s = -math.inf
        self._client = httpx.Client(
            base_url=access.url, verify=access.verify, timeout=TIMEOUT_S, trust_env=False, follow_redirects=False
        )

    def close(self) -> None:
        self._client.close()

    def get(self, path: str) -> Object:
        return self._ask("GET", path)

    def _pages(self, path: str, params: dict[str, Any], keeps: Callable[[Object], bool]) -> tuple[list[Object], str]:
        items: list[Object] = []
        while True:
            page = self._ask("GET", path, params=params)
            found, about = page.get("items"), page.get("metadata") or {}
            if not isinstance(found, list):
                raise ApiError(0, f"the list {path} has no items")
            items += filter(keeps, found)
            if not about.get("continue"):
                return items, str(about.get("resourceVersion") or "")
            params = {"limit": PAGE, "continue": about["continue"]}

    def list(self, path: str, keeps: Callable[[Object], bool] = lambda item: True) -> tuple[list[Object], str]:
        """All objects under a path, or those of interest, page by page, and the version that they had then; at once
        where that version is forgotten before the last page. No more than a page is held of the others."""
        try:
            return self._pages(path, {"limit": PAGE}, keeps)
        except ApiError as error:
            if error.status != GONE:
                raise
        return self._pages(path, {}, keeps)

    def watch(self, path: str, version: str | None, wait_s: int) -> Generator[tuple[str, Object], None, None]:
        """Changes after a version, as (ADDED, MODIFIED, DELETED, BOOKMARK or ERROR, object), for so many seconds; None:
        all objects first, as of now, and the bookmark that says that these were all, with no more than TIMEOUT_S
        between two of them (SilenceError)."""
        begin = INITIAL if version is None else {"resourceVersion": version}
        params: dict[str, Any] = {"watch": "true", "timeoutSeconds": wait_s, "allowWatchBookmarks": "true", **begin}
        timeout = httpx.Timeout(TIMEOUT_S, read=TIMEOUT_S if version is None else wait_s + TIMEOUT_S)
        self._require_turn()
        try:
            with self._client.stream("GET", path, params=params, headers=self._headers(), timeout=timeout) as response:
                if response.status_code != httpx.codes.OK:
                    response.read()
                    raise self._refused(response)
                for line in _lines(response):
                    event = json.loads(line)
                    yield event["type"], event["object"]
        except (httpx.HTTPError, ValueError, KeyError, TypeError) as error:
            raise _unanswered(f"watching {path} ended", error) from None

    def patch(self, path: str, body: Object) -> Object:
        """A JSON merge patch; 409 where `metadata.resourceVersion` in it is not that of the object any more."""
        return self._ask("PATCH", path, body=body, kind="application/merge-patch+json")

    def post(self, path: str, body: Object) -> Object:
        return self._ask("POST", path, body=body)

    def delete(self, path: str, uid: str) -> None:
        """Delete an object if it is still that one; none there: nothing."""
        try:
            self._ask("DELETE", path, body={"kind": "DeleteOptions", "apiVersion": "v1", "preconditions": {"uid": uid}})
        except ApiError as error:
            if error.status not in (404, 409):
                raise

    def _headers(self) -> dict[str, str]:
        try:
            token = self._access.token()
        except (OSError, ValueError) as error:
            raise ApiError(0, f"the token cannot be read now: {type(error).__name__}") from None
        return {} if token is None else {"Authorization": f"Bearer {token}"}

    def _require_turn(self) -> None:
        """ApiError while the API wants to be left alone."""
        left_s = self._quiet_until_s - self._clock()
        if left_s > 0:
            raise ApiError(BUSY, "the API has asked to be left alone for a while", left_s)

    def _refused(self, response: httpx.Response) -> ApiError:
        error = _refusal(response)
        self._quiet_until_s = max(self._quiet_until_s, self._clock() + error.pause_s)
        return error

    def _ask(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        body: Object | None = None,
        kind: str = "application/json",
    ) -> Object:
        self._require_turn()
        headers = self._headers() | ({"Content-Type": kind} if body is not None else {})
        content = None if body is None else json.dumps(body)
        try:
            response = self._client.request(method, path, params=params, headers=headers, content=content)
        except httpx.HTTPError as error:
            raise _unanswered(f"{method} {path}", error) from None
        if not response.is_success:
            raise self._refused(response)
        try:
            answer = response.json()
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise ApiError(0, f"{method} {path}: the answer is no JSON object")
        return answer


def _unanswered(said: str, error: Exception) -> ApiError:
    is_alone = isinstance(error, httpx.TimeoutException | httpx.ConnectError)
    return (NoAnswerError if is_alone else ApiError)(0, f"{said}: {type(error).__name__}{_certificate_fault(error)}")


def _certificate_fault(error: BaseException | None) -> str:
    """What is wrong with the certificate of the API, if that is why; other texts of errors may hold secrets."""
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return f" (its certificate is not trusted: {error.verify_message})"
        error = error.__cause__ or error.__context__
    return ""


def _chunks(response: httpx.Response) -> Iterator[bytes]:
    try:
        yield from response.iter_bytes()
    except httpx.ReadTimeout:
        raise SilenceError(0, f"watching {response.request.url.path} ended: nothing more was told in time") from None


def _lines(response: httpx.Response) -> Iterator[bytes]:
    """Lines of a stream that are not empty, split where the API splits them: texts may hold other ends of lines."""
    pieces: list[bytes] = []
    for chunk in _chunks(response):
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            line = b"".join([*pieces, end])
            pieces = []
            if line.strip():
                yield line
        pieces.append(rest)
    if line := b"".join(pieces).strip():
        yield line


def _refusal(response: httpx.Response) -> ApiError:
    """The error of a response, from the Status that the API sends."""
    try:
        said = str(response.json()["message"])
    except (ValueError, KeyError, TypeError):
        said = response.reason_phrase
    pause = response.headers.get("Retry-After", "")
    pause_s = min(float(pause), MOST_PAUSE_S) if pause.isascii() and pause.isdigit() else 0.0
    said = f"{response.request.method} {response.request.url.path}: {said[:500]}"
    return ApiError(response.status_code, said, pause_s)


def path_of(group: str, plural: str, namespace: str = "", name: str = "", sub: str = "") -> str:
    """Path of a list, an object or its subresource; `group` is "v1" or such as "kueue.x-k8s.io/v1beta1";
    ApiError for names that would lead elsewhere."""
    if {".", ".."} & {namespace, name}:
        raise ApiError(400, f"'{namespace}/{name}' is no namespace and name")
    start = f"/api/{group}" if "/" not in group else f"/apis/{group}"
    parts = ["namespaces", namespace, plural] if namespace else [plural]
    parts += [part for part in (name, sub) if part]
    return "/".join([start, *(quote(part, safe="") for part in parts)])

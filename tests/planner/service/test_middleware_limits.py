"""The middleware right at its limits, asked as a server asks it: nothing is read, told or written down beyond them."""

import asyncio
import logging
from typing import Any

import pytest

from planner.service.metrics import Metrics
from planner.service.middleware import Middleware
from planner.service.options import Options
from tests.planner.service.running import TOKEN

MOST = 1000
"""bytes of a body, in these tests"""


class Asked:
    """One request that reaches the middleware: status of the answer, and how much of the body was read."""

    def __init__(self, headers: dict[str, str], method: str = "POST", rate_per_s: float = 0.0, times: int = 1) -> None:
        self.reads, self.statuses = 0, list[int]()
        self.metrics = Metrics()
        options = Options(TOKEN.encode(), rate_per_s=rate_per_s, most_body_bytes=MOST)
        middleware = Middleware(self._app, options, self.metrics, lambda: False)
        raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        for _ in range(times):
            scope = {"type": "http", "method": method, "path": "/v1/jobs", "headers": raw, "client": ("10.0.0.1", 1)}
            asyncio.run(middleware(scope, self._receive, self._send))

    async def _app(self, scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def _receive(self) -> dict[str, Any]:
        self.reads += 1
        return {"type": "http.request", "body": b" " * MOST, "more_body": False}

    async def _send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.statuses.append(message["status"])


@pytest.mark.parametrize("scheme", ["Token", "Digest", "Bearer-", "X"])
def test_the_token_under_another_scheme_is_none(scheme: str) -> None:
    assert Asked({"Authorization": f"{scheme} {TOKEN}"}).statuses == [401]


@pytest.mark.parametrize(("length", "status"), [(str(MOST + 1), 413), ("9" * 5000, 413), (str(10**18), 413)])
def test_a_length_beyond_the_limit_is_answered_unread(length: str, status: int) -> None:
    asked = Asked({"Authorization": f"Bearer {TOKEN}", "Content-Length": length})
    assert (asked.statuses, asked.reads) == ([status], 0)


def test_of_a_flood_only_the_count_is_kept(caplog: pytest.LogCaptureFixture) -> None:
    """Each request that is answered leaves a line; those that come too often leave none, and are counted."""
    with caplog.at_level(logging.INFO, "planner.serve"):
        asked = Asked({"Authorization": f"Bearer {TOKEN}"}, rate_per_s=1e-6, times=50)
    assert asked.statuses == [200] + [429] * 49
    assert len([record for record in caplog.records if record.message == "request"]) == 1
    assert _counted(asked) == {"200": 1, "429": 49}


def test_methods_that_strangers_make_up_are_counted_as_one() -> None:
    for method in ("BREW", "X" * 4000):
        (sample,) = _samples(Asked({}, method=method))
        assert sample.labels["method"] == "other"


def _samples(asked: Asked) -> list[Any]:
    return [s for s in next(iter(asked.metrics.requests.collect())).samples if s.name.endswith("_total")]


def _counted(asked: Asked) -> dict[str, int]:
    return {sample.labels["status"]: int(sample.value) for sample in _samples(asked)}

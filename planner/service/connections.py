"""Connections: how many there may be, how long a request may take to be asked, and health for all beside them."""

import asyncio
from collections import Counter, OrderedDict
from dataclasses import dataclass, field
from typing import Any

from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from planner.service.responses import BUSY_S, refusal

HEALTH = "/healthz"
MOST_SPARE = 64
"""connections beyond the limits, which are answered how the service is, and nothing else"""


@dataclass
class ConnectionLimit:
    """All connections of one service."""

    most: int
    most_of_address: int
    header_s: float
    """for the head of a request, from its first byte, or from the connection"""
    _by_address: Counter[str] = field(default_factory=Counter)
    _spare: OrderedDict["Connection", None] = field(default_factory=OrderedDict)

    def enter(self, connection: "Connection", address: str) -> bool:
        """True if a new connection is within the limits. Of those beyond them the oldest gives way, so that a probe of
        health finds room."""
        if self._by_address.total() < self.most and self._by_address[address] < self.most_of_address:
            self._by_address[address] += 1
            return True
        self._spare[connection] = None
        if len(self._spare) > MOST_SPARE:
            oldest, _ = self._spare.popitem(last=False)
            oldest.abort()
        return False

    def leave(self, connection: "Connection", address: str, *, is_spare: bool) -> None:
        """A connection is closed."""
        if is_spare:
            self._spare.pop(connection, None)
            return
        self._by_address[address] -= 1
        if not self._by_address[address]:
            del self._by_address[address]


class Connection(HttpToolsProtocol):
    """One connection; `limit` is set by `protocol`."""

    limit: ConnectionLimit
    _timer: asyncio.TimerHandle | None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._address = self.client[0] if self.client else ""
        self._is_in_head, self._timer = True, None
        self._is_spare = not self.limit.enter(self, self._address)
        if self._is_spare:
            self.app = _only_health(self.app)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._is_in_head = False
        self._watch()
        self.limit.leave(self, self._address, is_spare=self._is_spare)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def on_message_begin(self) -> None:
        self._is_in_head = True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._is_in_head = False
        super().on_headers_complete()

    def abort(self) -> None:
        """Close it at once."""
        self.transport.abort()

    def _watch(self) -> None:
        """Limit the time for the head of a request."""
        if self._is_in_head and self._timer is None:
            self._timer = self.loop.call_later(self.limit.header_s, self.abort)
        elif not self._is_in_head and self._timer is not None:
            self._timer.cancel()
            self._timer = None


def protocol(limit: ConnectionLimit) -> type[asyncio.Protocol]:
    """The class of connections that a server makes, each counted against the limit."""
    return type("Connection", (Connection,), {"limit": limit})


def _only_health(app: Any) -> Any:
    """The application for a connection beyond the limits."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == HEALTH:
            await app(scope, receive, send)
            return
        headers = {"Retry-After": str(BUSY_S), "Connection": "close"}
        await refusal(503, "service", "", "has too many connections; come again", headers)(scope, receive, send)

    return answer

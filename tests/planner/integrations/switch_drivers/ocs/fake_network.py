"""Connections of the driver to emulated switches of a world, without a network."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

import grpc

from planner.integrations.switch_emulator.gnmi import GnmiService
from planner.integrations.switch_emulator.line_session import LineReply, LineSession
from planner.integrations.switch_emulator.scpi import ScpiSession
from planner.integrations.switch_emulator.tl1 import Tl1ServerSession

if TYPE_CHECKING:
    from tests.planner.integrations.switch_drivers.ocs.faulty_world import FaultySwitches

TIMEOUT_S = 0.4
_MESSAGE = re.compile(rb"[^;\n]*[;\n]")


class FakeSocket:
    """A connection to a switch that speaks in lines: what is sent arrives message by message."""

    def __init__(self, world: FaultySwitches, host: str) -> None:
        name, emulator = world.name_of[host], world.emulator
        self._world, self._replies = world, deque[LineReply]()
        self._session: LineSession = (Tl1ServerSession if world.site.protocol == "tl1" else ScpiSession)(emulator, name)

    def sendall(self, data: bytes) -> None:
        for message in _MESSAGE.findall(data):
            self._replies += self._world.asked(lambda message=message: self._session.receive(message))

    def recv(self, most: int) -> bytes:
        if self._replies:
            reply = self._replies.popleft()
            self._world.sleep(reply.wait_s)
            return reply.data
        if self._session.is_closed:
            return b""
        self._world.sleep(TIMEOUT_S)
        raise TimeoutError("timed out")

    def settimeout(self, time_s: float) -> None:
        """Time is the world's."""

    def close(self) -> None:
        self._replies.clear()


class FakeRpcError(grpc.RpcError):  # type: ignore[misc]
    """A call that failed."""

    def __init__(self, code: grpc.StatusCode, details: str) -> None:
        super().__init__(details)
        self._code, self._details = code, details

    def code(self) -> grpc.StatusCode:
        return self._code

    def details(self) -> str:
        return self._details


class Context:
    """Of one call, whose client has gone where it would wait."""

    def abort(self, code: grpc.StatusCode, details: str) -> NoReturn:
        raise FakeRpcError(code, details)

    def is_active(self) -> bool:
        return False


class FakeChannel:
    """Calls of gNMI."""

    def __init__(self, world: FaultySwitches) -> None:
        self._world, self._service = world, GnmiService(world.emulator)

    def unary_unary(self, path: str, *_: Any, **__: Any) -> Callable[..., Any]:
        method = getattr(self._service, path.rpartition("/")[2])

        def call(request: Any, timeout: float, metadata: Any) -> Any:
            request = type(request).FromString(request.SerializeToString())
            request.prefix.target = self._world.name_of[request.prefix.target]
            return self._world.asked(lambda: method(request, Context()))

        return call

    def stream_stream(self, path: str, *_: Any, **__: Any) -> None:
        """Subscriptions are not used by the driver."""

    def close(self) -> None:
        """Nothing is open."""

"""One connection to a switch that speaks in lines of text: what comes in, and what goes out."""

from collections.abc import Iterator
from dataclasses import dataclass

from planner.integrations.switch_emulator.emulator import Emulator
from planner.integrations.switch_emulator.errors import RestconfError
from planner.integrations.switch_emulator.faults import FaultKind, RequestClass
from planner.integrations.switch_emulator.switch import OpticalSwitch

MOST_WAITING_BYTES = 1 << 20
"""of a message whose end has not come"""


@dataclass(frozen=True)
class LineReply:
    """What is sent for one message."""

    data: bytes
    wait_s: float = 0.0
    """until it is sent"""


class LineSession:
    """Bytes to messages, and faults by seed; a protocol says where a message ends, and what is answered."""

    def __init__(self, emulator: Emulator, name: str) -> None:
        self.emulator, self.name = emulator, name
        self.switch: OpticalSwitch = emulator.switches[name]
        self.chance = emulator.faults[name].random
        self.is_closed = False
        """by the switch: it starts, or has started since the connection was made"""
        self._is_silent = False
        self._waiting = b""
        self._starts = emulator.starts[name]

    def receive(self, data: bytes) -> list[LineReply]:
        """Answers to all messages that are whole now; none from a switch that hangs."""
        self._waiting += data
        messages, self._waiting = self.split(self._waiting)
        replies = []
        for message in messages:
            if self.is_closed or self._is_silent:
                break
            with self.switch.lock:
                replies += self._met(message)
        self.is_closed |= len(self._waiting) > MOST_WAITING_BYTES
        return replies

    def split(self, data: bytes) -> tuple[list[str], bytes]:
        """Messages that have ended, and the rest."""
        raise NotImplementedError

    def class_of(self, message: str) -> RequestClass:
        raise NotImplementedError

    def answer(self, message: str, kind: FaultKind | None) -> Iterator[LineReply]:
        """`kind`: None, HALF, LIE or ERROR, where `fail` has not done all that is to be said."""
        raise NotImplementedError

    def _met(self, message: str) -> list[LineReply]:
        """One message under the lock of the switch."""
        try:
            if self.emulator.starts[self.name] != self._starts:
                raise RestconfError("operation-failed", "it has started")
            kind = self.emulator.meet(self.name, self.class_of(message))
        except RestconfError:
            self.is_closed = True
            return []
        if kind is None:
            return list(self.answer(message, None))
        if kind is not FaultKind.HANG:
            self.emulator.tell(self.name, kind, f"of {message.split()[0] if message.split() else 'nothing'}")
            return list(self.answer(message, kind))
        is_done = self.chance.random() < 0.5
        if is_done:
            list(self.answer(message, None))
        self._is_silent = True
        self.emulator.tell(self.name, kind, f"a message was {'done' if is_done else 'not done'}")
        return []

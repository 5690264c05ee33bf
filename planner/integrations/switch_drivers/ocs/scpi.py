"""A switch of Polatis, over SCPI: pairs of port numbers, and ports that are enabled, disabled or failed.

Commands answer nothing: what went wrong waits in a queue of errors. A connection is told from when it is asked for, so
that light is waited for by `*OPC?`, which answers once nothing moves any more.
"""

import re
import threading
from collections.abc import Callable, Collection

from planner.integrations.switch_drivers.ocs.config import SwitchSite
from planner.integrations.switch_drivers.ocs.switch import (
    MOST_CHARACTERS,
    OcsSwitch,
    SwitchRefusalError,
    SwitchSilentError,
)
from planner.integrations.switch_drivers.ocs.tables import (
    CrossConnectRow,
    CrossConnectState,
    PortState,
    SwitchTables,
)
from planner.integrations.switch_drivers.ocs.text_connection import TextConnection
from planner.integrations.switch_drivers.recorded import unfenced

ADD, SUB = ":OXC:SWIT:CONN:ADD", ":OXC:SWIT:CONN:SUB"
COMPLETE, STATE, PORTS, ERROR = "*OPC?", ":OXC:SWIT:CONN:STAT?", ":OXC:SWIT:PORT:STAT?", ":SYST:ERR?"
WORDS = {"E": "connected", "D": "force_blocked", "F": "failed"}
"""states of ports, in the words of SONiC"""
MOST_ERRORS = 64
COMMAND_ERRORS = range(-199, -99)
"""codes of commands that a switch does not know (SCPI-99): another try changes nothing"""
_STATE = re.compile(r"\s*\(@([\d,\s]*)\)\s*,\s*\(@([\d,\s]*)\)\s*")
_ERROR = re.compile(r"\s*([+-]?\d+)\s*,\s*(.*)")


class ScpiSwitch(OcsSwitch):
    """One question after the other over one connection."""

    def __init__(self, site: SwitchSite, name: str, fence: Callable[[], int] = unfenced) -> None:
        super().__init__(site, name, fence)
        self._connection, self._waiting = TextConnection(site, name), b""
        self._lock = threading.Lock()
        ports = sorted((port for switch, port in site.cable_at if switch == name), key=int)
        self._asked, self._ports = f"{PORTS} (@{','.join(ports)})", ports

    def close(self) -> None:
        self._connection.close()

    def tables(self) -> SwitchTables:
        """Once nothing moves any more."""
        with self._lock:
            rest = self._ask(COMPLETE)
            words = self._ask(self._asked)
            found = self._ask(STATE)
        letters, sides = words.strip("()").replace(" ", "").split(","), _sides(found)
        if rest != "1" or sides is None or len(letters) != len(self._ports) or not WORDS.keys() >= {*letters}:
            self._connection.close()
            raise SwitchSilentError(f"{self.name} reports what cannot be read: {rest} {found[:MOST_CHARACTERS]}")
        rows = {f"{a}-{b}": CrossConnectRow(f"{a}-{b}", a, b) for a, b in zip(*sides, strict=True)}
        peers = {row.a_side: row.b_side for row in rows.values()} | {row.b_side: row.a_side for row in rows.values()}
        states = {
            port: PortState(WORDS[letter] if letter != "E" or port in peers else "blocked", peers.get(port, ""))
            for port, letter in zip(self._ports, letters, strict=True)
        }
        return SwitchTables(rows, dict.fromkeys(rows, CrossConnectState("enabled", None)), states)

    def update(self, delete: Collection[CrossConnectRow], add: Collection[CrossConnectRow]) -> None:
        """Each pair is taken away by itself, since one that is not there may be an error; all are added together."""
        lines = ["*CLS", *(f"{SUB} (@{row.a_side}),(@{row.b_side})" for row in sorted(delete))]
        if add:
            rows = sorted(add)
            lines.append(f"{ADD} (@{','.join(row.a_side for row in rows)}),(@{','.join(row.b_side for row in rows)})")
        with self._lock:
            self._send("".join(f"{line}\n" for line in lines))
            errors = list(self._errors())
        for code, said in errors:
            if code in COMMAND_ERRORS:
                raise SwitchRefusalError(f"{self.name} says {code}: {said}")
        if errors:
            raise SwitchSilentError(f"{self.name} says {errors[0][0]}: {errors[0][1]}")

    def _errors(self) -> list[tuple[int, str]]:
        """What the queue holds; it is empty afterwards."""
        found = []
        for _ in range(MOST_ERRORS):
            match = _ERROR.fullmatch(answer := self._ask(ERROR))
            if match is None:
                self._connection.close()
                raise SwitchSilentError(f"{self.name} reports what cannot be read: {answer[:MOST_CHARACTERS]}")
            if int(match[1]) == 0:
                break
            found.append((int(match[1]), match[2].strip('"')[:MOST_CHARACTERS]))
        return found

    def _ask(self, query: str) -> str:
        """The line that answers a query."""
        self._send(f"{query}\n")
        while b"\n" not in self._waiting:
            self._waiting += self._connection.receive()
        line, _, self._waiting = self._waiting.partition(b"\n")
        return line.decode("ascii", "replace").strip()

    def _send(self, text: str) -> None:
        """What has not been read of an earlier question is of nobody any more."""
        if not self._connection.is_open:
            self._waiting = b""
            self._connection.open()
        self._connection.restart_time()
        self.fence()
        self._connection.send(text)


def _sides(state: str) -> list[list[str]] | None:
    """Ports on either side, pair by pair; None where the lists are none, or differ in length."""
    match = _STATE.fullmatch(state)
    if match is None:
        return None
    texts = [[port.strip() for port in side.split(",")] if side.strip() else [] for side in match.groups()]
    if len(texts[0]) != len(texts[1]) or not all(port.isdecimal() and int(port) for side in texts for port in side):
        return None
    return [[str(int(port)) for port in side] for side in texts]

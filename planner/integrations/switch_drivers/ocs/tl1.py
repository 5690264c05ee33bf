"""A switch of Calient's S series, over TL1: connections from the input of a port to the output of another one.

A port is named by the switch alike for its input and its output: in the wiring with A or B after it, 1.2.4A and 1.2.4B.
A connection is provisioned (ENT-CRS) and put in service (ACT-CRS); light passes where its administrative and
operational states are IS and its capability is OK.
"""

import re
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

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
from planner.integrations.switch_drivers.ocs.tl1_session import INVALID, Tl1Answer, Tl1Session
from planner.integrations.switch_drivers.recorded import unfenced

GROUP = "SYSTEM"
CONNECTIONS, PORTS, POWERS = "RTRV-CRS:::{}::ALL;", "RTRV-PORT::0:{};", "RTRV-PORT-SUM::0:{};"
_ITEM = re.compile(r'"([^:"]+):((?:[^"\\]|\\.)*)"')
"""identifier, and the rest of an entry, in which quotes are escaped"""
_WORD = re.compile(r'(?:"[^"]*"|[^",:])+')
_COMMENT = re.compile(r"/\*.*\*/")
Words = Mapping[str, str]


class Tl1Switch(OcsSwitch):
    """Commands of one kind are sent together, and the next kind after their answers."""

    def __init__(self, site: SwitchSite, name: str, fence: Callable[[], int] = unfenced) -> None:
        super().__init__(site, name, fence)
        self._session, self._lock = Tl1Session(site, name), threading.Lock()

    def close(self) -> None:
        self._session.close()

    def tables(self) -> SwitchTables:
        """What ports are capable of is asked where a connection has none, losses where there is a budget."""
        with self._lock:
            powers = self._powers() if self._site.config.most_loss_db is not None else {}
            entries = [words for _, words in self._entries(CONNECTIONS)]
            is_bad = any(words.get("OC") != "OK" for words in entries)
            capable = list(self._entries(PORTS)) if is_bad else []
        failed = {port for duplex, words in capable for port in _failed(duplex, words)}
        rows = [row for words in entries for row in _rows(words)]
        outcomes, ports = {}, dict.fromkeys(failed, PortState("failed", ""))
        for row, words in rows:
            outcomes[row.name] = CrossConnectState(_status(words), _loss_db(row, powers))
            for here, there in ((row.a_side, row.b_side), (row.b_side, row.a_side)):
                if here not in failed:
                    ports[here] = PortState(_port_status(words), there)
        return SwitchTables({row.name: row for row, _ in rows}, outcomes, ports)

    def configured(self) -> Mapping[str, CrossConnectRow]:
        with self._lock:
            return {row.name: row for _, words in self._entries(CONNECTIONS) for row, _ in _rows(words)}

    def update(self, delete: Collection[CrossConnectRow], add: Collection[CrossConnectRow]) -> None:
        """Out of service and deleted, then provisioned and put in service; what was so already may be denied."""
        gone, new = ([_sides(row) for row in sorted(rows)] for rows in (delete, add))
        with self._lock:
            self._change(f"CANC-CRS::{s},{d}:{{}}::,{GROUP},{s}>{d};" for s, d in gone)
            self._change(f"DLT-CRS::{s},{d}:{{}}::,{GROUP},{s}>{d};" for s, d in gone)
            denied = self._change(f"ENT-CRS::{s},{d}:{{}}::,1WAY;" for s, d in new)
            self._change(f"ACT-CRS::{s},{d}:{{}}::{s}>{d},{GROUP};" for s, d in new)
        for answer in denied:
            kind = SwitchRefusalError if answer.error.startswith(INVALID) else SwitchSilentError
            raise kind(f"{self.name} denies ENT-CRS: {answer.said}")

    def _change(self, commands: Iterable[str]) -> list[Tl1Answer]:
        """Answers that deny."""
        sent = list(commands)
        return [answer for answer in self._ask(sent) if answer.is_denied] if sent else []

    def _ask(self, commands: Sequence[str]) -> list[Tl1Answer]:
        self.fence()
        return self._session.ask(commands, self.secret())

    def _entries(self, command: str) -> Iterator[tuple[str, Words]]:
        """Identifiers and words of what is retrieved."""
        (answer,) = self._ask([command])
        if answer.is_denied:
            kind = SwitchRefusalError if answer.error.startswith(INVALID) else SwitchSilentError
            raise kind(f"{self.name} denies {command.partition(':')[0]}: {answer.said}")
        for line in answer.lines:
            if _COMMENT.fullmatch(line):
                continue
            match = _ITEM.fullmatch(line)
            words = None if match is None else _words(match[2])
            if match is None or words is None:
                raise SwitchSilentError(f"{self.name} reports what cannot be read: {line[:MOST_CHARACTERS]}")
            yield match[1], words

    def _powers(self) -> dict[str, float]:
        """By simplex port, in dBm."""
        found = {}
        for port, words in self._entries(POWERS):
            for key, side in (("INPWR", "A"), ("OUTPWR", "B")):
                try:
                    found[f"{port}{side}"] = float(words.get(key, ""))
                except ValueError:
                    continue
        return found


def _words(text: str) -> Words | None:
    """Values by their names; None where a name comes twice: an unquoted value may hold commas."""
    pairs = [word.split("=", 1) for word in _WORD.findall(text.replace('\\"', '"')) if "=" in word]
    found = {name: value.strip('"') for name, value in pairs}
    return found if len(found) == len(pairs) else None


def _rows(words: Words) -> Iterator[tuple[CrossConnectRow, Words]]:
    """One for each direction. Named as those of the planner where it is like them; others by group and name."""
    source, sink, name = words.get("SRCPORT", ""), words.get("DSTPORT", ""), words.get("CONNNAME", "")
    start, arrow, end = name.partition(">")
    is_plain = words.get("GRPNAME", GROUP) == GROUP and words.get("CONNTYPE", "1WAY").upper() == "1WAY"
    if is_plain and arrow:
        yield CrossConnectRow(f"{start}A-{end}B", f"{source}A", f"{sink}B"), words
        return
    yield CrossConnectRow(f"{words.get('GRPNAME')} {name}", f"{source}A", f"{sink}B"), words
    if words.get("CONNTYPE", "").upper() == "2WAY":
        yield CrossConnectRow(f"{words.get('GRPNAME')} {name} back", f"{sink}A", f"{source}B"), words


def _sides(row: CrossConnectRow) -> tuple[str, str]:
    return row.a_side[:-1], row.b_side[:-1]


def _status(words: Words) -> str:
    """In the words of SONiC: in service and capable, whether light passes yet or not."""
    return "enabled" if words.get("AS") == "IS" and words.get("OC") == "OK" else "disabled"


def _port_status(words: Words) -> str:
    if words.get("AS") != "IS":
        return "blocked"
    return "connected" if words.get("OS") == "IS" and words.get("OC") == "OK" else "tuning"


def _failed(port: str, words: Words) -> Iterator[str]:
    for key, side in (("INOC", "A"), ("OUTOC", "B")):
        if words.get(key) == "FAIL":
            yield f"{port}{side}"


def _loss_db(row: CrossConnectRow, powers: Mapping[str, float]) -> float | None:
    """What goes in less what comes out, where the switch measures both."""
    if row.a_side not in powers or row.b_side not in powers:
        return None
    return powers[row.a_side] - powers[row.b_side]

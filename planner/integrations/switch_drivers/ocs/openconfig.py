"""A switch with OpenConfig's model `optical-switch` (revision 2024-09-20), over gNMI.

Ports are SLOT/PORT in the wiring. A connection is listed at one of its ports, or at both, with what was asked for
(`config`) and what is (`state`); light passes where `state` has the peer and both ports are enabled: the model says
nothing of mirrors that move, and nothing of loss.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from planner.integrations.switch_drivers.ocs.config import SwitchSite
from planner.integrations.switch_drivers.ocs.gnmi_client import GnmiSwitch
from planner.integrations.switch_drivers.ocs.switch import SwitchSilentError
from planner.integrations.switch_drivers.ocs.tables import (
    CrossConnectRow,
    CrossConnectState,
    PortState,
    SwitchTables,
    list_of,
)
from planner.integrations.switch_drivers.recorded import unfenced

ROOT = "openconfig-optical-switch:optical-switch"
CONNECTIONS, CONNECTION = "port-connections", "port-connection"
STATUSES, STATUS = "port-statuses", "port-status"
ENABLED = "STATUS_ENABLED"
DEAD_WORDS = {"STATUS_FAILED": "failed", "STATUS_DISABLED": "force_blocked"}
"""with or without the name of their module (RFC 7951); no light passes at a port that says anything else"""
Json = Mapping[str, Any]


class OpenConfigOcs(GnmiSwitch):
    """Remembers what it read last: a delete names a port alone, and shall not hit what others have there since."""

    def __init__(self, site: SwitchSite, name: str, fence: Callable[[], int] = unfenced) -> None:
        super().__init__(site, name, fence)
        self._inputs = {port for (switch, port), cable in site.cable_at.items()
                        if switch == name and cable.direction == "input"}  # fmt: skip
        self._outputs = {port for (switch, port) in site.cable_at if switch == name} - self._inputs
        self._keys: dict[CrossConnectRow, list[str]] = {}
        """ports at which each cross-connect was listed"""
        self._there: dict[str, CrossConnectRow] = {}
        """what each port had, as asked for or as it is"""

    def tables(self) -> SwitchTables:
        return self._read(self.get((ROOT, STATUSES)), self._asked_or_there)

    def configured(self) -> Mapping[str, CrossConnectRow]:
        return self._read({}, self._asked).rows

    def _read(self, statuses: Json, peer_of: Callable[[Json], Json]) -> SwitchTables:
        """Connections as they are now, beside what ports have just told."""
        found = self.get((ROOT, CONNECTIONS))
        try:
            return self._tables(list_of(statuses, STATUS), list_of(found, CONNECTION), peer_of)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise SwitchSilentError(f"{self.name} reports tables that cannot be read: {error!r}") from None

    def update(self, delete: Collection[CrossConnectRow], add: Collection[CrossConnectRow]) -> None:
        """One transaction. What was not listed when it was last read, at a port that had another connection, is not
        there to be deleted."""
        ports = [port for row in sorted(delete) for port in self._listed(row)]
        entries = [_entry(row) for row in sorted(add)]
        gone = [(ROOT, CONNECTIONS, (CONNECTION, _key(port))) for port in ports]
        value = {f"{ROOT.partition(':')[0]}:{CONNECTION}": entries} if entries else None
        if gone or entries:
            self.set(gone, (ROOT, CONNECTIONS), value)

    def _listed(self, row: CrossConnectRow) -> list[str]:
        """Ports at which a row may be listed."""
        return self._keys.get(row, [row.a_side] if self._there.get(row.a_side, row) == row else [])

    @staticmethod
    def _asked(entry: Json) -> Json:
        found: Json = entry.get("config", {})
        return found

    @staticmethod
    def _asked_or_there(entry: Json) -> Json:
        """What others have joined by hand may have no configuration, and is in the way all the same."""
        config: Json = entry.get("config", {})
        state: Json = entry.get("state", {})
        return config if config.get("peer-port") else state

    def _tables(self, statuses: list[Json], connections: list[Json], peer_of: Callable[[Json], Json]) -> SwitchTables:
        keys: dict[CrossConnectRow, list[str]] = {}
        actual: dict[str, str] = {}
        self._there = {}
        for entry in connections:
            here, peer, state = _port(entry), peer_of(entry), entry.get("state", {})
            for leaves in (state, entry.get("config", {})):
                if leaves.get("peer-port"):
                    row = self._row(here, _peer(leaves))
                    self._there |= dict.fromkeys((row.a_side, row.b_side), row)
            if state.get("peer-port"):
                actual[here] = _peer(state)
                actual.setdefault(_peer(state), here)
            if peer.get("peer-port"):
                keys.setdefault(self._row(here, _peer(peer)), []).append(here)
        self._keys = keys
        used = {port for row in keys for port in (row.a_side, row.b_side)}
        words = {_port(each): each.get("state", {}).get("port-status") or "" for each in statuses}
        states = {p: PortState(_status(p, word, actual, used), actual.get(p, "")) for p, word in words.items()}
        return SwitchTables({row.name: row for row in keys}, dict(_outcomes(keys, actual)), states)

    def _row(self, here: str, there: str) -> CrossConnectRow:
        """From input to output; as it is listed where the wiring has neither port."""
        if here in self._outputs or there in self._inputs:
            here, there = there, here
        return CrossConnectRow(f"{here}-{there}", here, there)


def _outcomes(rows: Collection[CrossConnectRow], actual: Mapping[str, str]) -> Iterator[tuple[str, CrossConnectState]]:
    """Disabled where light goes elsewhere."""
    for row in rows:
        is_so = actual.get(row.a_side, row.b_side) == row.b_side
        yield row.name, CrossConnectState("enabled" if is_so else "disabled", None)


def _status(port: str, word: str, actual: Mapping[str, str], used: Collection[str]) -> str:
    """In the words of SONiC."""
    said = word.rpartition(":")[2]
    if said in DEAD_WORDS:
        return DEAD_WORDS[said]
    if port in actual and said == ENABLED:
        return "connected"
    return "tuning" if port in used else "blocked"


def _port(entry: Json) -> str:
    return f"{entry['slot']}/{entry['port']}"


def _peer(leaves: Json) -> str:
    return f"{leaves['peer-slot']}/{leaves['peer-port']}"


def _key(port: str) -> dict[str, str]:
    slot, _, name = port.partition("/")
    return {"slot": slot, "port": name}


def _entry(row: CrossConnectRow) -> dict[str, Any]:
    peer = _key(row.b_side)
    config = {**_key(row.a_side), "peer-slot": peer["slot"], "peer-port": peer["port"]}
    return {**_key(row.a_side), "config": config}

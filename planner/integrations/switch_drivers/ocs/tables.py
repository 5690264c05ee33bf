"""Tables of one switch: cross-connects that are configured, what became of them, and what its ports report; and how
SONiC writes them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple


class CrossConnectRow(NamedTuple):
    """A configured cross-connect."""

    name: str
    """its key; ours are named by their ports, those of others as these like"""
    a_side: str
    """port where light enters"""
    b_side: str


class CrossConnectState(NamedTuple):
    """What became of a cross-connect."""

    status: str
    """enabled, disabled (a hardware error, or not yet) or invalid (a conflict of ports)"""
    loss_db: float | None
    """insertion loss that the switch measures"""


class PortState(NamedTuple):
    """What a port reports."""

    status: str
    """connected, or tuned in the other vocabulary, where light passes"""
    target: str
    """port at the other side; empty: it says none"""


LIT = {"connected", "tuned"}
STATUS_LEAVES = ("oper_status", "state", "status")
"""of a port, in the vocabularies of the field"""
NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True)
class SwitchTables:
    """One reading."""

    rows: Mapping[str, CrossConnectRow]
    """by name"""
    outcomes: Mapping[str, CrossConnectState]
    ports: Mapping[str, PortState]

    def at_ports(self, ports: Iterable[str]) -> list[CrossConnectRow]:
        """Cross-connects that touch one of these ports."""
        wanted = set(ports)
        return [row for row in self.rows.values() if row.a_side in wanted or row.b_side in wanted]

    def status(self, row: CrossConnectRow) -> str:
        """enabled, disabled or invalid; missing where it is not configured so, pending where it has no state yet."""
        if self.rows.get(row.name) != row:
            return "missing"
        return self.outcomes[row.name].status if row.name in self.outcomes else "pending"

    def dark_ports(self, row: CrossConnectRow) -> list[str]:
        """Ports of a cross-connect that do not report light from or to the other one."""
        pairs = ((row.a_side, row.b_side), (row.b_side, row.a_side))
        return [port for port, other in pairs if not self._is_lit(port, other)]

    def port_status(self, port: str) -> str:
        return self.ports[port].status if port in self.ports else "not there"

    def _is_lit(self, port: str, other: str) -> bool:
        state = self.ports.get(port)
        return state is not None and state.status in LIT and state.target in ("", other)


def entries_of(rows: Iterable[CrossConnectRow]) -> list[dict[str, str]]:
    """As SONiC takes them."""
    return [{"cross_connect_id": row.name, "a_side": row.a_side, "b_side": row.b_side} for row in sorted(rows)]


def tables_of(
    config: Mapping[str, Any], state: Mapping[str, Any] = NOTHING, ports: Mapping[str, Any] = NOTHING
) -> SwitchTables:
    """From answers of SONiC; KeyError, TypeError, ValueError for what is no such table. All vocabularies of ports are
    read."""
    rows = (
        CrossConnectRow(r["cross_connect_id"], r["a_side"], r["b_side"])
        for r in list_of(config, "OCS_CROSS_CONNECT_LIST")
    )
    return SwitchTables(
        {row.name: row for row in rows},
        {r["cross_connect_id"]: _outcome(r) for r in list_of(state, "OCS_CROSS_CONNECT_LIST")},
        {
            r["simplex_port_id"]: PortState(
                str(next((r[leaf] for leaf in STATUS_LEAVES if leaf in r), "blocked")),
                r.get("target_simplex_port_id") or "",
            )
            for r in list_of(ports, "OCS_PORT_LIST")
        },
    )


def _outcome(row: Mapping[str, Any]) -> CrossConnectState:
    loss = row.get("insertion_loss_dB")
    return CrossConnectState(str(row.get("status", "disabled")), None if loss is None else float(loss))


def list_of(answer: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    """The list of an answer, with or without the name of the module, inside its containers or not; empty where these
    are. ValueError for an answer that says something else: it would pass for a switch with nothing on."""
    found = _found(answer, name)
    if found is None and not _is_empty(answer):
        raise ValueError(f"{name} is not in what was answered")
    return found or []


def _found(answer: Mapping[str, Any], name: str) -> list[Mapping[str, Any]] | None:
    for key, value in answer.items():
        if key.rpartition(":")[2] == name:
            here: list[Mapping[str, Any]] = value or []
            return here
    inside = (_found(value, name) for value in answer.values() if isinstance(value, Mapping))
    return next((each for each in inside if each is not None), None)


def _is_empty(value: object) -> bool:
    """Containers that hold nothing, beside metadata (RFC 7952)."""
    if not isinstance(value, Mapping):
        return value is None
    return all(_is_empty(inner) for key, inner in value.items() if not key.startswith("@"))

"""OpenConfig's `optical-switch` (openconfig/public, release/models/optical-switch, revision 2024-09-20) over the
connections of a switch.

Ports are numbered in slot 1, inputs first. `config` is what was asked for, `state` where light passes. The model has no
word for mirrors that move, and none for loss: `state` names a peer once it is reached.
"""

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pygnmi.spec.v080.gnmi_pb2 import Path, PathElem, SetRequest, TypedValue, Update

from planner.integrations.switch_emulator import mishaps
from planner.integrations.switch_emulator.connections import (
    BusyPortError,
    LightState,
    Pair,
    broken_ports,
    change_for,
    condition,
    pairs_of,
)
from planner.integrations.switch_emulator.errors import RestconfError
from planner.integrations.switch_emulator.gnmi_paths import decoded
from planner.integrations.switch_emulator.habits import Habits
from planner.integrations.switch_emulator.port_names import number, numbered
from planner.integrations.switch_emulator.switch import OpticalSwitch, Row

MODEL, ROOT, REVISION = "openconfig-optical-switch", "optical-switch", "2024-09-20"
SLOT = "1"
CONNECTIONS, CONNECTION = "port-connections", "port-connection"
STATUSES, STATUS = "port-statuses", "port-status"
TOPOLOGY = "optical-switch-topology"


def is_meant(prefix: Path, path: Path) -> bool:
    """Whether a path is of this model."""
    elements = [*prefix.elem, *path.elem]
    return (path.origin or prefix.origin) in ("", "openconfig") and bool(elements) and _bare(elements[0].name) == ROOT


class OpenConfigSwitch:
    """One switch as the model shows it."""

    def __init__(self, switch: OpticalSwitch, habits: Habits) -> None:
        self.switch, self.habits = switch, habits
        self._per_side = len(switch.ports) // 2

    def updates(self, prefix: Path, path: Path, *, by_entry: bool = False) -> Iterator[Update]:
        """Values for what a path names; `by_entry`: one for each entry of the lists below it."""
        names, keys = _steps(prefix, path)
        tables = {CONNECTIONS: (CONNECTION, self._connections), STATUSES: (STATUS, self._statuses)}
        if names == [TOPOLOGY] or names == [TOPOLOGY, "state"]:
            held: Any = self._topology() if len(names) == 2 else {"state": self._topology()}
            yield Update(path=path, val=_encoded(held))
            return
        if names and names[0] not in tables:
            raise RestconfError("invalid-value", f"'{names[0]}' is no node of {MODEL}", status=404)
        chosen = {name: tables[name] for name in (names[:1] or tables)}
        if len(names) > 1 or by_entry:
            for table, (_, entries) in chosen.items():
                yield from _of_entries(table, list(entries()), names, keys)
        else:
            found = {table: {inner: list(entries())} for table, (inner, entries) in chosen.items()}
            value = found if not names else found[names[0]]
            yield Update(path=path, val=_encoded(value))

    def number(self, port: str) -> str:
        return str(number(port, self._per_side))

    def port(self, slot: Any, port: Any) -> str:
        """RestconfError where there is none."""
        try:
            if str(slot) != SLOT:
                raise KeyError(slot)
            return numbered(int(port), self._per_side)
        except (KeyError, ValueError):
            raise RestconfError("invalid-value", f"slot {slot} has no port {port}") from None

    def owners(self) -> dict[str, str]:
        """Names of connections by the ports at which they are listed; of two at one port, the later."""
        found = {}
        for name, pair in pairs_of(self.switch).items():
            found.update(dict.fromkeys(pair if self.habits.lists_both_ends else pair[:1], name))
        return found

    def _connections(self) -> Iterator[Row]:
        """Those that are configured, and what the hardware has in place of one."""
        circuits, pairs = self.switch.hardware.circuits, pairs_of(self.switch)
        for here, name in self.owners().items():
            pair = pairs[name]
            is_lit = condition(self.switch, name) is LightState.LIT
            actual = circuits[name].ports if name in circuits and circuits[name].status == "enabled" else None
            shown = actual if is_lit or (actual is not None and actual != pair) else None
            peer = dict((shown, shown[::-1])).get(here) if shown else None
            there = pair[1] if here == pair[0] else pair[0]
            yield _entry(self.number(here), self.number(there), self.number(peer) if peer else None)

    def _statuses(self) -> Iterator[Row]:
        stuck, off = broken_ports(self.switch), self.switch.hardware.overrides
        for port in sorted(self.switch.ports, key=lambda port: int(self.number(port))):
            status = "FAILED" if port in stuck else "DISABLED" if port in off else "ENABLED"
            state = {"slot": SLOT, "port": self.number(port), "port-status": f"STATUS_{status}"}
            if port in stuck:
                state["port-status-message"] = "its mirror does not reach its target"
            yield {"slot": SLOT, "port": self.number(port), "state": state}

    def _topology(self) -> dict[str, Any]:
        each = self._per_side
        return {
            "port-connectivity": "INGRESS_EGRESS", "total-port-count": 2 * each, "total-optical-module-count": 1,
            "ingress-port-count": each, "egress-port-count": each, "ingress-start-index": 1,
            "egress-start-index": each + 1, "inter-module-connection-support": False,
        }  # fmt: skip


class OpenConfigEdit:
    """A Set: all of its deletes, replaces and updates, or none of them."""

    def __init__(self, view: OpenConfigSwitch) -> None:
        self._view, self._switch = view, view.switch
        self._ports: list[str] = []
        """whose connection goes"""
        self._pairs: list[Pair] = []
        self._is_whole = False

    def read(self, request: SetRequest) -> None:
        """RestconfError where any part is wrong."""
        for path in request.delete:
            names, keys = _steps(request.prefix, path)
            self._require_config(names, CONNECTION)
            self._drop(keys)
        for updates, is_replace in ((request.replace, True), (request.update, False)):
            for update in updates:
                names, keys = _steps(request.prefix, update.path)
                self._require_config(names, "config")
                entries = _entries(decoded(update.val), names, keys)
                if is_replace:
                    self._drop(keys)
                self._pairs += [self._pair(entry) for entry in entries]

    def apply(self) -> None:
        self._switch.apply(*self._change(), is_forced=True)

    def apply_half(self, chance: random.Random) -> None:
        """A part of it."""
        mishaps.half(self._switch, *self._change(), chance)

    def _change(self) -> tuple[list[str], list[Row]]:
        owners = self._view.owners()
        gone = [*self._switch.circuits] if self._is_whole else [owners[port] for port in self._ports if port in owners]
        try:
            return change_for(
                self._switch, list(dict.fromkeys(gone)), list(dict.fromkeys(self._pairs)), self._view.habits.busy_port
            )
        except BusyPortError as error:
            raise RestconfError("in-use", str(error)) from None

    def _require_config(self, names: Sequence[str], last: str) -> None:
        known = [CONNECTIONS, CONNECTION, "config"]
        if not names or names != known[: len(names)] or len(names) > known.index(last) + 1:
            raise RestconfError("operation-not-supported", f"{'/'.join(names)} is not to be set")

    def _drop(self, keys: Mapping[str, str]) -> None:
        if keys:
            self._ports.append(self._view.port(keys.get("slot"), keys.get("port")))
        else:
            self._is_whole = True

    def _pair(self, entry: Any) -> Pair:
        """Of a port and its peer, on different sides."""
        if not isinstance(entry, dict) or not isinstance(entry.get("config"), dict):
            raise RestconfError("missing-element", "an entry has slot, port and config")
        config = {_bare(name): value for name, value in entry["config"].items()}
        if (config.get("slot"), config.get("port")) != (entry.get("slot"), entry.get("port")):
            raise RestconfError("invalid-value", "the key of an entry is not that of its config")
        here = self._view.port(config.get("slot"), config.get("port"))
        there = self._view.port(config.get("peer-slot"), config.get("peer-port"))
        if here[-1] == there[-1]:
            raise RestconfError("invalid-value", f"{here} and {there} are on one side")
        return (here, there) if here.endswith("A") else (there, here)


def _entry(here: str, there: str, peer: str | None) -> Row:
    config = {"slot": SLOT, "port": here}
    state = config if peer is None else {**config, "peer-slot": SLOT, "peer-port": peer}
    return {**config, "config": {**config, "peer-slot": SLOT, "peer-port": there}, "state": state}


def _entries(value: Any, names: Sequence[str], keys: Mapping[str, str]) -> list[Any]:
    """Entries of a list, of which a value is all, one, or the config of one."""
    if not isinstance(value, dict):
        raise RestconfError("malformed-message", "an object is needed")
    value = {_bare(name): inner for name, inner in value.items()}
    if names == [CONNECTIONS]:
        found = value.get(CONNECTION, [])
        if not isinstance(found, list):
            raise RestconfError("malformed-message", f"{CONNECTION} is no list")
        return found
    inner = {"config": value} if names[-1] == "config" else {key: each for key, each in value.items() if key != "state"}
    return [{**keys, **inner}]


def _of_entries(table: str, entries: Sequence[Row], names: Sequence[str], keys: Mapping[str, str]) -> Iterator[Update]:
    """Entries with these keys, whole or a container of them."""
    is_all = all(value == "*" for value in keys.values())
    inner = CONNECTION if table == CONNECTIONS else STATUS
    wanted = keys.get("slot"), keys.get("port")
    chosen = [each for each in entries if is_all or (each["slot"], each["port"]) == wanted]
    if names[1:] and names[1] != inner:
        raise RestconfError("invalid-value", f"'{names[1]}' is no node of {table}", status=404)
    if not chosen and not is_all:
        raise RestconfError("invalid-value", f"{dict(keys)} is not there", status=404)
    for each in chosen:
        key = {"slot": each["slot"], "port": each["port"]}
        elements = [PathElem(name=ROOT), PathElem(name=table), PathElem(name=inner, key=key)]
        value: Any = each
        for name in names[2:]:
            elements.append(PathElem(name=name))
            value = value.get(name) if isinstance(value, dict) else None
        if value is not None:
            yield Update(path=Path(origin="openconfig", elem=elements), val=_encoded(value))


def _steps(prefix: Path, path: Path) -> tuple[list[str], dict[str, str]]:
    """Names below the root of the model, and the keys of the list."""
    elements = [*prefix.elem, *path.elem][1:]
    keys = {name: value for element in elements for name, value in element.key.items()}
    return [_bare(element.name) for element in elements], keys


def _bare(name: str) -> str:
    return name.removeprefix(f"{MODEL}:")


def _encoded(value: Any) -> TypedValue:
    if isinstance(value, dict):
        value = {f"{MODEL}:{name}": inner for name, inner in value.items()}
    return TypedValue(json_ietf_val=json.dumps(value, separators=(",", ":")).encode())

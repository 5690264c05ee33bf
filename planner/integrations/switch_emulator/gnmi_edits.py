"""A Set of gNMI: all of its deletes, replaces and updates as one transaction."""

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pygnmi.spec.v080.gnmi_pb2 import SetRequest, Update

from planner.integrations.switch_emulator import mishaps
from planner.integrations.switch_emulator.edits import CIRCUITS, PORTS
from planner.integrations.switch_emulator.errors import RestconfError
from planner.integrations.switch_emulator.gnmi_paths import decoded, resource_of
from planner.integrations.switch_emulator.node_tree import MODULE, Table
from planner.integrations.switch_emulator.payloads import Payloads, Row
from planner.integrations.switch_emulator.resources import Kind, Resource
from planner.integrations.switch_emulator.switch import OpticalSwitch


@dataclass
class GnmiEdit:
    """What a Set asks of one switch; nothing is done until `apply`."""

    switch: OpticalSwitch
    deletes: dict[str, list[str]] = field(default_factory=lambda: {CIRCUITS: [], PORTS: []})
    """keys by table"""
    rows: dict[str, list[Row]] = field(default_factory=lambda: {CIRCUITS: [], PORTS: []})
    replaced: set[str] = field(default_factory=set)
    """circuits that lose what is not given"""

    def read(self, request: SetRequest) -> None:
        """RestconfError where any part is wrong."""
        payloads = Payloads(self.switch.vocabulary)
        for path in request.delete:
            self._delete(self._config(resource_of(request.prefix, path, self.switch.tables)))
        for updates, is_replace in ((request.replace, True), (request.update, False)):
            for update in updates:
                self._write(request, update, payloads, is_replace=is_replace)

    def apply(self) -> None:
        """All of it."""
        for name in self.replaced & set(self.switch.circuits):
            self.switch.circuits[name] = {}
        self.switch.apply(self.deletes[CIRCUITS], self.rows[CIRCUITS])
        self.switch.remove_ports(self.deletes[PORTS])
        self.switch.set_ports(self.rows[PORTS])

    def apply_half(self, chance: random.Random) -> None:
        """A part of the circuits."""
        mishaps.half(self.switch, self.deletes[CIRCUITS], self.rows[CIRCUITS], chance)

    def _config(self, resource: Resource) -> Resource:
        if resource.table is None or resource.is_state:
            raise RestconfError("operation-not-supported", "name a table of the configuration, or a part of it")
        return resource

    def _delete(self, resource: Resource) -> None:
        table = resource.table
        assert table is not None
        if resource.kind is Kind.LEAF:
            raise RestconfError("operation-not-supported", "a leaf is replaced, not deleted")
        held = self.switch.circuits if table.name == CIRCUITS else self.switch.port_rows
        self.deletes[table.name] += [resource.key[0]] if resource.key else list(held)

    def _write(self, request: SetRequest, update: Update, payloads: Payloads, *, is_replace: bool) -> None:
        resource = self._config(resource_of(request.prefix, update.path, self.switch.tables))
        table = resource.table
        assert table is not None
        rows = payloads.read(_body(table, resource, decoded(update.val)), "list", table.name)
        if any(row[table.keys[0]] != resource.key[0] for row in rows if resource.key):
            raise RestconfError("invalid-value", "the key of the value is not that of the path")
        if is_replace and not resource.key:
            self._delete(resource)
        elif is_replace and resource.kind is Kind.ENTRY and table.name == CIRCUITS:
            self.replaced.add(resource.key[0])
        self.rows[table.name] += rows


def _body(table: Table, resource: Resource, value: Any) -> bytes:
    """A list as RESTCONF has it, of the entries that a value is or holds."""
    rows: Sequence[Any]
    if resource.kind is Kind.TABLE:
        rows = value.get(table.list_name, []) if isinstance(value, dict) else [value]
    elif resource.kind is Kind.LIST:
        rows = value if isinstance(value, list) else [value]
    else:
        given = {resource.leaf: value} if resource.kind is Kind.LEAF else value
        rows = [dict(zip(table.keys, resource.key, strict=True)) | given if isinstance(given, dict) else given]
    return json.dumps({f"{MODULE}:{table.list_name}": rows}).encode()

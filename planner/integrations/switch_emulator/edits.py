"""Edits of the configuration, each one transaction."""

from collections.abc import Mapping, Sequence
from typing import Any

from planner.integrations.switch_emulator.resources import Kind, Resource
from planner.integrations.switch_emulator.switch import OpticalSwitch

Rows = Mapping[str, Sequence[dict[str, Any]]]
"""by table"""
CIRCUITS, PORTS = "OCS_CROSS_CONNECT", "OCS_PORT"


def merge(switch: OpticalSwitch, given: Rows) -> None:
    """Add entries, and leaves to those that are there."""
    switch.apply((), given.get(CIRCUITS, ()))
    switch.set_ports(given.get(PORTS, ()))


def replace(switch: OpticalSwitch, given: Rows, *, is_whole: bool) -> None:
    """Entries lose the leaves that are not given; of a whole table, entries that are not given go."""
    deletes: list[str] = []
    if CIRCUITS in given:
        names = {row["cross_connect_id"] for row in given[CIRCUITS]}
        deletes = [name for name in switch.circuits if name not in names] if is_whole else []
        for name in names & set(switch.circuits):
            switch.circuits[name] = {}
    if PORTS in given:
        ports = {row["simplex_port_id"] for row in given[PORTS]}
        if is_whole:
            switch.remove_ports([port for port in switch.port_rows if port not in ports])
        for port in ports & set(switch.port_rows):
            switch.port_rows[port] = {}
    switch.apply(deletes, given.get(CIRCUITS, ()))
    switch.set_ports(given.get(PORTS, ()))


def delete(switch: OpticalSwitch, resource: Resource) -> None:
    """What a resource names: a leaf, an entry, a table, or the configuration of the whole module."""
    table = resource.table
    if resource.kind is Kind.LEAF:
        assert table is not None
        row = switch.row(table, resource.key)
        assert row is not None
        del row[resource.leaf]
        if table.name == PORTS:
            switch.set_ports([row])
        return
    keys = [resource.key[0]] if resource.kind is Kind.ENTRY else None
    if table is None or table.name == CIRCUITS:
        switch.apply(list(switch.circuits) if keys is None else keys, ())
    if table is None or table.name == PORTS:
        switch.remove_ports(list(switch.port_rows) if keys is None else keys)

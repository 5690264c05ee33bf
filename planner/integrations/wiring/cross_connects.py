"""A plan as cross-connects of optical switches, by the names of their ports, and the way from one to another."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from planner.fabrics import plugin_of
from planner.fabrics.switch_ports import Direction, End
from planner.integrations.wiring.cables import CableTable
from planner.model.errors import InputError
from planner.model.instance import Instance
from planner.model.plan import Plan, SwitchState


class CrossConnect(NamedTuple):
    """Light through one switch."""

    a_side: str
    """port where it enters"""
    b_side: str

    @property
    def name(self) -> str:
        """The key of SONiC's tables."""
        return f"{self.a_side}-{self.b_side}"


CrossConnects = Mapping[str, frozenset[CrossConnect]]
"""all that is on, by switch"""


def cross_connects(instance: Instance, plan: Plan, table: CableTable) -> CrossConnects:
    """What a plan joins, by ports; InputError where the wiring lacks an end."""
    return of_states(plugin_of(instance.cluster.fabric).switch_ports.states(instance, plan.assignments), table)


def of_states(states: Iterable[SwitchState], table: CableTable) -> CrossConnects:
    """States of switches by ports."""
    return {
        state.switch: frozenset(
            CrossConnect(_port(table, state.switch, source, "input"), _port(table, state.switch, sink, "output"))
            for source, sink in state.connections
        )
        for state in states
    }


def _port(table: CableTable, switch: str, end: str, direction: Direction) -> str:
    port = table.port_of.get(End(switch, end, direction))
    if port is None:
        raise InputError(table.name, f"{switch}", f"has no {direction} for {end}; see `planner wiring check`")
    return port


def difference(before: CrossConnects, after: CrossConnects) -> dict[str, dict[str, Any]]:
    """By switch, the names to delete and the cross-connects to add: the input of SONiC's RPC `bulk-update`. Switches
    where nothing changes are left out."""
    found = {}
    for switch in sorted({*before, *after}):
        old, new = before.get(switch, frozenset()), after.get(switch, frozenset())
        if old != new:
            found[switch] = {
                "delete": sorted(each.name for each in old - new),
                "add": [
                    {"cross_connect_id": each.name, "a_side": each.a_side, "b_side": each.b_side}
                    for each in sorted(new - old)
                ],
            }
    return found


def document(before: CrossConnects, after: CrossConnects) -> dict[str, Any]:
    """What `planner export --format crossconnects` writes."""
    return {
        "bulk_update": difference(before, after),
        "connected": {switch: sorted(each.name for each in found) for switch, found in sorted(after.items()) if found},
    }

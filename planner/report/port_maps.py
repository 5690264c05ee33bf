"""Optical switches port by port: which input leads to which output, and for which job."""

from collections.abc import Mapping
from typing import Any

from planner.fabrics import plugin_of
from planner.fabrics.switch_ports import End
from planner.model.instance import Instance
from planner.model.plan import Plan

MOST_JOINED = 30_000
"""cross-connects on a page"""


def port_maps(
    instance: Instance, plan: Plan | None, index_of_job: Mapping[str, int], port_of: Mapping[End, str] | None = None
) -> list[dict[str, Any]]:
    """Switches that join something, in the order of the plan; `port_of`: the port of each end, by a wiring."""
    switch_ports, ports = plugin_of(instance.cluster.fabric).switch_ports, port_of or {}
    found: dict[str, list[dict[str, Any]]] = {}
    for assignment in plan.assignments if plan else ():
        for state in switch_ports.states(instance, [assignment]):
            for source, destination in state.connections:
                found.setdefault(state.switch, []).append({
                    "from": ports.get(End(state.switch, source, "input"), ""),
                    "to": ports.get(End(state.switch, destination, "output"), ""),
                    "source": source,
                    "destination": destination,
                    "job": index_of_job[assignment.job],
                })  # fmt: skip
    return [{"switch": switch, "joined": joined} for switch, joined in found.items()]

"""Racks with pooled memory: a job that lost a part keeps its devices and takes other units, ports, rails or uplinks."""

import re
from collections.abc import Collection, Sequence

from costmodel.fabrics import FabricBase, Sipam
from planner.fabrics.problem import JobOptions, Problem
from planner.fabrics.sipam.free_state import PoolFreeState
from planner.fabrics.sipam.residents import numbered_parts
from planner.fabrics.sipam.uplinks import reserve_uplinks
from planner.fabrics.spares import Device, Place, Spares
from planner.model.cluster import Cluster
from planner.model.plan import Assignment

POOLED = ("memory unit", "tray port", "uplink")
"""kinds of parts that are reserved by number, beside devices"""


class SipamSpares(Spares):
    """Units of a tray, and ports and uplinks of a rail, stand in for each other."""

    def reconnected(self, problem: Problem, assignments: Sequence[Assignment]) -> list[Assignment] | None:
        """A rank whose device failed goes to a free device of its server."""
        free = PoolFreeState(problem.cluster)
        lost = [not options.can_stay for options in problem.options]
        for number, assignment in enumerate(assignments):
            if not lost[number]:
                free.take_named(assignment)
                reserve_uplinks(free, problem.options[number].shapes[0], assignment)
        found = list(assignments)
        for j, assignment in enumerate(assignments):
            if lost[j]:
                others = [a.devices for a, is_lost in zip(assignments[j + 1 :], lost[j + 1 :], strict=True) if is_lost]
                kept = {device for devices in others for device in devices}
                placed = _reconnected(free, problem.options[j], assignment, kept)
                if placed is None:
                    return None
                found[j] = placed
        return found

    def place_of(self, fabric: FabricBase, kind: str, part: str) -> Place | None:
        return (re.sub(r"\d+$", "", part),) if kind in POOLED else super().place_of(fabric, kind, part)

    def healthy_parts(self, cluster: Cluster, place: Place) -> list[str]:
        fabric, prefix = cluster.fabric, place[0]
        if not isinstance(prefix, str):
            return super().healthy_parts(cluster, place)
        assert isinstance(fabric, Sipam)
        health = cluster.health
        failed = {*health.failed_memory_units, *health.failed_tray_ports, *health.failed_uplinks}
        return [name for name in numbered_parts(fabric, prefix) if name not in failed]


def _reconnected(
    free: PoolFreeState, options: JobOptions, assignment: Assignment, kept: Collection[str]
) -> Assignment | None:
    """One job on its devices, or on free ones that no other job which lost a part holds."""
    fabric = free.cluster.fabric
    spare = {
        server: [slot for slot in slots if fabric.device_name(server, slot) not in {*kept, *assignment.devices}]
        for server, slots in enumerate(free.slots.lit)
    }
    devices: list[Device] = []
    for name in assignment.devices:
        server, slot = fabric.parse_device(name)
        if slot not in free.slots.lit[server]:
            if not spare[server]:
                return None
            slot = spare[server].pop(0)
        devices.append((server, slot))
    found = free.assign_on(options, 0, devices)
    if found is None:
        return None
    parts = {name: getattr(found, name) for name in ("devices", "circuits", "memory", "upper")}
    return assignment.model_copy(update=parts)

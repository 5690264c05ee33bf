"""Circuits over rails and uplinks, and what a pool gave each job beside what the SiPAM loop would have given it."""

from collections.abc import Mapping, Sequence
from typing import Any

from costmodel.fabrics import FabricBase, Sipam
from planner.fabrics.drawing import INSIDE, NO_CIRCUITS, Drawing, counted, ranges, side_of
from planner.model.cluster import Cluster
from planner.model.instance import Instance
from planner.model.plan import Assignment, Circuit
from planner.model.result import Result

LOOP = "sipam_loop"


class SipamDrawing(Drawing):
    """A circuit has rails; it stays in its server or takes uplinks. Memory circuits are listed, not drawn."""

    has_memory_circuits = True

    def names(self, fabric: FabricBase) -> dict[str, Any]:
        return NO_CIRCUITS | {
            "channels": "rails",
            "columns": ["from", "to", "rails", "uplinks"],
            "inside": "circuit inside a server",
            "beyond": "circuit between servers, over uplinks",
        }

    def own_view(self, cluster: Cluster) -> dict[str, Any] | None:
        """Trays of a server, units and ports of a tray on each rail, and rails: those that stay in the server first."""
        fabric = cluster.fabric
        assert isinstance(fabric, Sipam)
        return {
            "kind": "pool",
            "trays": fabric.trays_per_server,
            "units": fabric.units_per_tray,
            "ports": fabric.tray_ports,
            "local_rails": fabric.local_rails,
            "spine_rails": fabric.spine_rails,
        }

    def path(self, cluster: Cluster, circuit: Circuit) -> tuple[str, list[str], list[str]]:
        uplinks, side, rails = ", ".join(circuit.fibers), side_of(cluster, circuit), ranges(circuit.wavelengths)
        way = "inside the server" if side == INSIDE else f"uplinks {uplinks or 'unknown'}"
        return side, [f"{counted(circuit, 'rail', 'rails')}: {rails}", way], [rails, uplinks or "–"]

    def pool_gains(
        self, instance: Instance, result: Result, jobs: Sequence[Mapping[str, Any]]
    ) -> dict[str, Any] | None:
        """Peak bandwidth of the accelerator's own memory, and for each job its share by the loop and its value there.

        `loop` is None where the loop was not asked.
        """
        if result.plan is None:
            return None
        start = result.starts.get(LOOP)
        placed = {a.job: a for a in start.assignments} if start is not None else {}
        return {
            "own_bytes_per_s": instance.cluster.device.memory_bytes_per_s,
            "value": result.objective,
            "loop": None if start is None else start.value,
            "by_loop": [_share(placed.get(job["name"])) for job in jobs],
        }


def _share(assignment: Assignment | None) -> dict[str, Any] | None:
    """Accelerators, units and I/Os of a rank, and value; None where the job waits."""
    if assignment is None:
        return None
    return {
        "devices": len(assignment.devices),
        "memory_units": assignment.configuration.memory_units,
        "memory_io": assignment.configuration.memory_io,
        "value": assignment.value,
    }

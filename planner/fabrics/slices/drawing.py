"""What slices are joined by."""

from typing import Any

from costmodel.fabrics import FabricBase, Sipac, Torus
from planner.fabrics.drawing import BEYOND, NO_CIRCUITS, Drawing
from planner.model.cluster import Cluster
from planner.model.plan import Circuit


class SipacDrawing(Drawing):
    """Ports of switches belong to whoever holds the slice."""

    why_none = "A slice has the switch ports of its digits to itself: plans list no circuits."

    def own_view(self, cluster: Cluster) -> dict[str, Any] | None:
        """Values of a digit, and digits of an accelerator."""
        fabric = cluster.fabric
        assert isinstance(fabric, Sipac)
        return {"kind": "digits", "radix": fabric.radix, "digits": fabric.digits}


class TorusDrawing(Drawing):
    """Optical switches, where there are any, join faces of servers both ways."""

    why_none = "Links between neighbours are fixed: this fabric has no circuits."
    why_boards = (
        "Boards divide the wavelengths of each chip among the links of its slice: "
        "w in the plan of a job is how many a link has, axis by axis."
    )
    arrow = "↔"

    def own_view(self, cluster: Cluster) -> dict[str, Any] | None:
        """Chips of a server along x, y and z, and of a board where there are boards."""
        fabric = cluster.fabric
        assert isinstance(fabric, Torus)
        boards = {} if fabric.boards is None else {"boards": list(fabric.boards.sides)}
        return {"kind": "box", "sides": list(fabric.sides)} | boards

    def names(self, fabric: FabricBase) -> dict[str, Any]:
        assert isinstance(fabric, Torus)
        if fabric.switches is None:
            return super().names(fabric) if fabric.boards is None else NO_CIRCUITS | {"why": self.why_boards}
        return NO_CIRCUITS | {
            "channels": "circuits",
            "columns": ["face of", "joined to face of", "switch"],
            "is_duplex": True,
            "beyond": "faces joined by an optical switch",
        }

    def path(self, cluster: Cluster, circuit: Circuit) -> tuple[str, list[str], list[str]]:
        switch = ", ".join(circuit.fibers)
        return BEYOND, [f"both ways through the optical switch {switch}"], [switch or "–"]

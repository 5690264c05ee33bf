"""Circuits through the optical switches of a rail."""

from typing import Any

from costmodel.fabrics import FabricBase, OcsRail
from planner.fabrics.drawing import BEYOND, NO_CIRCUITS, Drawing, counted, place_of
from planner.model.cluster import Cluster
from planner.model.plan import Circuit


class OcsRailDrawing(Drawing):
    """A circuit goes through one or more switches of the rail of its ends, which are numbered as wavelengths."""

    def names(self, fabric: FabricBase) -> dict[str, Any]:
        return NO_CIRCUITS | {
            "channels": "switches",
            "columns": ["from", "to", "switches"],
            "beyond": "circuit between servers, over switches of its rail",
        }

    def own_view(self, cluster: Cluster) -> dict[str, Any] | None:
        """The rail of an accelerator is its slot."""
        return {"kind": "rails"}

    def switches(self, fabric: FabricBase, circuit: Circuit) -> list[str]:
        assert isinstance(fabric, OcsRail)
        rail = fabric.parse_device(circuit.source)[1]
        return [fabric.switch_name(rail, number) for number in circuit.wavelengths]

    def path(self, cluster: Cluster, circuit: Circuit) -> tuple[str, list[str], list[str]]:
        source = place_of(cluster, circuit.source)
        rail = "?" if source is None else str(source[1])
        names = ", ".join(f"q{rail}#{number}" for number in circuit.wavelengths)
        return BEYOND, [f"over {counted(circuit, 'switch', 'switches')} of rail q{rail}: {names}"], [names]

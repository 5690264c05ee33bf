"""Servers whose accelerators share rings with memory nodes."""

from typing import TYPE_CHECKING, ClassVar

from costmodel.fabrics import FabricBase, MemoryNodeRings
from planner.fabrics.plugin import FabricPlugin

if TYPE_CHECKING:
    from planner.fabrics.demand import Demand
    from planner.fabrics.free_state import FreeState, MostLit
    from planner.model.cluster import Cluster


class MemoryRingPlugin(FabricPlugin):
    """Rings of links with memory nodes inside each server, packets between servers."""

    schema = MemoryNodeRings
    parts: ClassVar = {
        "upgrades": "planner.fabrics.memory_ring.upgrades:MemoryRingUpgrades",
        "claims": "planner.fabrics.memory_ring.claims:MemoryRingClaims",
        "drawing": "planner.fabrics.memory_ring.drawing:MemoryRingDrawing",
        "rules": "planner.fabrics.memory_ring.rules:MemoryRingRules",
        "template": "planner.fabrics.memory_ring.template:MemoryRingTemplate",
        "residents": "planner.fabrics.memory_ring.residents:MemoryRingResidents",
        "job_classes": "planner.fabrics.memory_ring.job_class:MemoryRingJobClassRules",
        "step_one": "planner.fabrics.memory_ring.step1:MemoryRingStepOne",
        "step_two": "planner.fabrics.memory_ring.step2:MemoryRingStepTwo",
        "windows": "planner.fabrics.memory_ring.windows:MemoryRingWindows",
        "dominance": "planner.fabrics.memory_ring.dominance:MemoryRingDominance",
        "shared_amounts": "planner.fabrics.memory_ring.shared_amounts:NodeAmounts",
    }

    def demand_type(self, fabric: FabricBase) -> "type[Demand]":
        from planner.fabrics.demand import Demand
        from planner.fabrics.memory_ring.demand import NodeDemand

        assert isinstance(fabric, MemoryNodeRings)
        return NodeDemand if fabric.shared_nodes else Demand

    def free_state(self, cluster: "Cluster", most_lit: "MostLit | None" = None) -> "FreeState":
        from planner.fabrics.free_state import FreeState
        from planner.fabrics.memory_ring.free_state import NodeFreeState

        assert isinstance(cluster.fabric, MemoryNodeRings)
        return NodeFreeState(cluster) if cluster.fabric.shared_nodes else FreeState(cluster)

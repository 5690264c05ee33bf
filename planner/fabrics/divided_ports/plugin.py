"""Accelerators that divide optical ports between memory and network."""

from typing import TYPE_CHECKING, ClassVar

from costmodel.fabrics import DividedPorts, FabricBase
from planner.fabrics.plugin import FabricPlugin

if TYPE_CHECKING:
    from planner.fabrics.demand import Demand
    from planner.fabrics.divided_ports.free_state import SharedFreeState
    from planner.fabrics.free_state import MostLit
    from planner.model.cluster import Cluster


class DividedPortsPlugin(FabricPlugin):
    """Packets between servers; modules of memory behind optical ports, which a server may share."""

    schema = DividedPorts
    parts: ClassVar = {
        "shortages": "planner.fabrics.server_shares.shortages:SharedShortages",
        "upgrades": "planner.fabrics.divided_ports.upgrades:DividedPortsUpgrades",
        "claims": "planner.fabrics.server_shares.claims:SharedClaims",
        "drawing": "planner.fabrics.divided_ports.drawing:DividedPortsDrawing",
        "rules": "planner.fabrics.divided_ports.rules:DividedPortsRules",
        "template": "planner.fabrics.divided_ports.template:DividedPortsTemplate",
        "residents": "planner.fabrics.server_shares.residents:SharedResidents",
        "job_classes": "planner.fabrics.divided_ports.job_class:DividedPortsJobClassRules",
        "step_one": "planner.fabrics.divided_ports.step1:DividedPortsStepOne",
        "windows": "planner.fabrics.divided_ports.windows:DividedPortsWindows",
        "dominance": "planner.fabrics.server_shares.dominance:SharedDominance",
        "shared_amounts": "planner.fabrics.divided_ports.shared_amounts:ApplianceAmounts",
    }

    def demand_type(self, fabric: FabricBase) -> "type[Demand]":
        from planner.fabrics.demand import Demand
        from planner.fabrics.server_shares.demand import SharedDemand

        assert isinstance(fabric, DividedPorts)
        return Demand if fabric.shared is None else SharedDemand

    def free_state(self, cluster: "Cluster", most_lit: "MostLit | None" = None) -> "SharedFreeState":
        from planner.fabrics.divided_ports.free_state import SharedFreeState

        return SharedFreeState(cluster)

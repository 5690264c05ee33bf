"""Tori of accelerators."""

from typing import TYPE_CHECKING, ClassVar

from costmodel.fabrics import Torus
from costmodel.fabrics.boxes import slices_of
from planner.fabrics.slices.plugin import SlicedPlugin

if TYPE_CHECKING:
    from costmodel.fabrics import FabricBase
    from planner.fabrics.own_policy import OwnPolicy
    from planner.model.cluster import Cluster


class TorusPlugin(SlicedPlugin):
    """Boxes of a torus, joined by switches between cubes where the fabric has them."""

    schema = Torus
    own_slices = "torus_slices"
    parts: ClassVar = {
        "upgrades": "planner.fabrics.slices.upgrades:TorusUpgrades",
        "drawing": "planner.fabrics.slices.drawing:TorusDrawing",
        "rules": "planner.fabrics.slices.rules:TorusRules",
        "template": "planner.fabrics.slices.torus_template:TorusTemplate",
        "residents": "planner.fabrics.slices.residents:TorusResidents",
        "job_classes": "planner.fabrics.slices.torus_job_class:TorusJobClassRules",
        "switch_ports": "planner.fabrics.slices.torus_switch_ports:TorusSwitchPorts",
    }

    def hosts(self, fabric: "FabricBase") -> tuple[tuple[int, ...], ...]:
        assert isinstance(fabric, Torus)
        if not fabric.partitions:
            return ()
        return tuple(each.slots for each in slices_of(fabric.sides, fabric.partitions[0], wraps=False, aligned=True))

    def own_policy(self, cluster: "Cluster", policy: str) -> "OwnPolicy | None":
        fabric = cluster.fabric
        assert isinstance(fabric, Torus)
        is_plain = fabric.boards is None and not fabric.partitions and len({*fabric.sides}) == 1
        if policy != "rfold" or fabric.switches is None or not is_plain:
            return None
        from planner.fabrics.slices.rfold import rfold

        return rfold

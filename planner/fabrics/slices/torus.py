"""Tori of accelerators."""

from math import prod
from typing import TYPE_CHECKING, ClassVar

from costmodel.fabrics import Torus
from costmodel.fabrics.boxes import slices_of
from planner.fabrics.slices.plugin import SlicedPlugin

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from costmodel.fabrics import FabricBase
    from planner.fabrics.job_class import Option
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

    def partition(self, fabric: "FabricBase", slots: "Sequence[int]") -> str | None:
        assert isinstance(fabric, Torus)
        for shape in fabric.partitions:
            boxes = slices_of(fabric.sides, shape, wraps=False, aligned=True)
            if any({*each.slots} == {*slots} for each in boxes):
                return "x".join(map(str, shape))
        return None

    def divided(self, row: "Option", devices: "Sequence[str]") -> "list[dict[str, Any]]":
        fabric, cut = row.options.fabric, row.shape.cut
        assert isinstance(fabric, Torus)
        if not cut or not any(tuple(each) == tuple(cut) for each in fabric.partitions):
            return []
        size, shape = prod(cut), "x".join(map(str, cut))
        parts = (devices[first : first + size] for first in range(0, len(devices), size))
        return [{"dimension": "slice", "circuits": [], "partition": shape, "devices": [*part]} for part in parts]

    def own_policy(self, cluster: "Cluster", policy: str) -> "OwnPolicy | None":
        fabric = cluster.fabric
        assert isinstance(fabric, Torus)
        is_plain = fabric.boards is None and not fabric.partitions and len({*fabric.sides}) == 1
        if policy != "rfold" or fabric.switches is None or not is_plain:
            return None
        from planner.fabrics.slices.rfold import rfold

        return rfold

"""Tori of accelerators."""

from typing import ClassVar

from costmodel.fabrics import Torus
from planner.fabrics.slices.plugin import SlicedPlugin


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
        "switch_ports": "planner.fabrics.slices.torus_switch_ports:TorusSwitchPorts",
    }

"""SiPAC: hypercubes of photonic switches."""

from typing import ClassVar

from costmodel.fabrics import Sipac
from planner.fabrics.slices.plugin import SlicedPlugin


class SipacPlugin(SlicedPlugin):
    """Sub-cubes of digits."""

    schema = Sipac
    own_slices = "bcube_slices"
    parts: ClassVar = {
        "upgrades": "planner.fabrics.slices.upgrades:SipacUpgrades",
        "switch_ports": "planner.fabrics.joined_racks.switch_ports:JoinedSwitchPorts",
        "drawing": "planner.fabrics.slices.drawing:SipacDrawing",
        "template": "planner.fabrics.slices.sipac_template:SipacTemplate",
    }

"""SiPAC: hypercubes of photonic switches."""

from functools import cached_property
from typing import TYPE_CHECKING

from costmodel.fabrics import Sipac
from planner.fabrics.slices.plugin import SlicedPlugin

if TYPE_CHECKING:
    from planner.fabrics.slices.drawing import SipacDrawing
    from planner.fabrics.slices.sipac_template import SipacTemplate
    from planner.fabrics.slices.upgrades import SipacUpgrades


class SipacPlugin(SlicedPlugin):
    """Sub-cubes of digits."""

    schema = Sipac
    own_slices = "bcube_slices"

    @cached_property
    def upgrades(self) -> "SipacUpgrades":
        from planner.fabrics.slices.upgrades import SipacUpgrades

        return SipacUpgrades()

    @cached_property
    def drawing(self) -> "SipacDrawing":
        from planner.fabrics.slices.drawing import SipacDrawing

        return SipacDrawing()

    @cached_property
    def template(self) -> "SipacTemplate":
        from planner.fabrics.slices.sipac_template import SipacTemplate

        return SipacTemplate()

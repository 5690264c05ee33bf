"""Tori of accelerators."""

from functools import cached_property
from typing import TYPE_CHECKING

from costmodel.fabrics import Torus
from planner.fabrics.slices.plugin import SlicedPlugin

if TYPE_CHECKING:
    from planner.fabrics.slices.drawing import TorusDrawing
    from planner.fabrics.slices.residents import TorusResidents
    from planner.fabrics.slices.rules import TorusRules
    from planner.fabrics.slices.torus_template import TorusTemplate
    from planner.fabrics.slices.upgrades import TorusUpgrades


class TorusPlugin(SlicedPlugin):
    """Boxes of a torus, joined by switches between cubes where the fabric has them."""

    schema = Torus
    own_slices = "torus_slices"

    @cached_property
    def upgrades(self) -> "TorusUpgrades":
        from planner.fabrics.slices.upgrades import TorusUpgrades

        return TorusUpgrades()

    @cached_property
    def drawing(self) -> "TorusDrawing":
        from planner.fabrics.slices.drawing import TorusDrawing

        return TorusDrawing()

    @cached_property
    def rules(self) -> "TorusRules":
        from planner.fabrics.slices.rules import TorusRules

        return TorusRules()

    @cached_property
    def template(self) -> "TorusTemplate":
        from planner.fabrics.slices.torus_template import TorusTemplate

        return TorusTemplate()

    @cached_property
    def residents(self) -> "TorusResidents":
        from planner.fabrics.slices.residents import TorusResidents

        return TorusResidents()

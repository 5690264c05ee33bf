"""Accelerators that divide optical ports between memory and network."""

from functools import cached_property
from typing import TYPE_CHECKING

from costmodel.fabrics import DividedPorts, FabricBase
from planner.fabrics.plugin import FabricPlugin

if TYPE_CHECKING:
    from planner.fabrics.demand import Demand
    from planner.fabrics.divided_ports.claims import DividedPortsClaims
    from planner.fabrics.divided_ports.dominance import SharedDominance
    from planner.fabrics.divided_ports.drawing import DividedPortsDrawing
    from planner.fabrics.divided_ports.free_state import SharedFreeState
    from planner.fabrics.divided_ports.job_class import DividedPortsJobClassRules
    from planner.fabrics.divided_ports.residents import DividedPortsResidents
    from planner.fabrics.divided_ports.rules import DividedPortsRules
    from planner.fabrics.divided_ports.shared_amounts import ApplianceAmounts
    from planner.fabrics.divided_ports.step1 import DividedPortsStepOne
    from planner.fabrics.divided_ports.template import DividedPortsTemplate
    from planner.fabrics.divided_ports.upgrades import DividedPortsUpgrades
    from planner.fabrics.divided_ports.windows import DividedPortsWindows
    from planner.fabrics.free_state import MostLit
    from planner.model.cluster import Cluster


class DividedPortsPlugin(FabricPlugin):
    """Packets between servers; modules of memory behind optical ports, which a server may share."""

    schema = DividedPorts

    def demand_type(self, fabric: FabricBase) -> "type[Demand]":
        from planner.fabrics.demand import Demand
        from planner.fabrics.divided_ports.demand import SharedDemand

        assert isinstance(fabric, DividedPorts)
        return Demand if fabric.shared is None else SharedDemand

    @cached_property
    def upgrades(self) -> "DividedPortsUpgrades":
        from planner.fabrics.divided_ports.upgrades import DividedPortsUpgrades

        return DividedPortsUpgrades()

    @cached_property
    def claims(self) -> "DividedPortsClaims":
        from planner.fabrics.divided_ports.claims import DividedPortsClaims

        return DividedPortsClaims()

    @cached_property
    def drawing(self) -> "DividedPortsDrawing":
        from planner.fabrics.divided_ports.drawing import DividedPortsDrawing

        return DividedPortsDrawing()

    @cached_property
    def rules(self) -> "DividedPortsRules":
        from planner.fabrics.divided_ports.rules import DividedPortsRules

        return DividedPortsRules()

    @cached_property
    def template(self) -> "DividedPortsTemplate":
        from planner.fabrics.divided_ports.template import DividedPortsTemplate

        return DividedPortsTemplate()

    def free_state(self, cluster: "Cluster", most_lit: "MostLit | None" = None) -> "SharedFreeState":
        from planner.fabrics.divided_ports.free_state import SharedFreeState

        return SharedFreeState(cluster)

    @cached_property
    def residents(self) -> "DividedPortsResidents":
        from planner.fabrics.divided_ports.residents import DividedPortsResidents

        return DividedPortsResidents()

    @cached_property
    def job_classes(self) -> "DividedPortsJobClassRules":
        from planner.fabrics.divided_ports.job_class import DividedPortsJobClassRules

        return DividedPortsJobClassRules()

    @cached_property
    def step_one(self) -> "DividedPortsStepOne":
        from planner.fabrics.divided_ports.step1 import DividedPortsStepOne

        return DividedPortsStepOne()

    @cached_property
    def windows(self) -> "DividedPortsWindows":
        from planner.fabrics.divided_ports.windows import DividedPortsWindows

        return DividedPortsWindows()

    @cached_property
    def dominance(self) -> "SharedDominance":
        from planner.fabrics.divided_ports.dominance import SharedDominance

        return SharedDominance()

    @cached_property
    def shared_amounts(self) -> "ApplianceAmounts":
        from planner.fabrics.divided_ports.shared_amounts import ApplianceAmounts

        return ApplianceAmounts()

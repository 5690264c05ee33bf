"""Constraint groups of step 1; each reads the shared variables and works in any order.

A group has the name of the rule of `planner.checks` that is its twin. Groups of one fabric stand with its plug-in.
"""

from planner.cpsat.step1.constraints.admission import admission
from planner.cpsat.step1.constraints.locality import locality, rack
from planner.cpsat.step1.constraints.placement import placement
from planner.fabrics.plugin import FabricPlugin
from planner.formulation.step_one import Constraint

ON_EVERY_FABRIC: dict[str, Constraint] = {
    "admission": admission,
    "placement": placement,
    "locality": locality,
    "rack": rack,
}
"""`locality` has no twin: it defines literals that other groups read"""


def groups_of(plugin: FabricPlugin) -> dict[str, Constraint]:
    """Groups of one kind of fabric by name, those of every fabric first."""
    return ON_EVERY_FABRIC | dict(plugin.step_one.groups)

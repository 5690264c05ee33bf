"""Fabrics: which circuits may exist, what they cost, and how a group of ranks may communicate."""

from typing import Annotated

from pydantic import Field

from costmodel.collectives.circuits import Circuits
from costmodel.fabrics.base import NO_PLAN, Cut, FabricBase, GroupPlan, LinkPlan, PlanKind, Split
from costmodel.fabrics.divided_ports import DividedPorts
from costmodel.fabrics.fat_tree import FatTree
from costmodel.fabrics.lightpath import Fiber, FiberBundle, Lightpath, Route
from costmodel.fabrics.memory_node_rings import MemoryNodeRings
from costmodel.fabrics.ocs_rail import OcsRail
from costmodel.fabrics.sipac import Sipac
from costmodel.fabrics.sipam import Sipam
from costmodel.fabrics.sliced import SlicedFabric
from costmodel.fabrics.torus import Torus

Fabric = Annotated[
    Lightpath | FatTree | OcsRail | Torus | Sipac | Sipam | DividedPorts | MemoryNodeRings, Field(discriminator="kind")
]

__all__ = [
    "NO_PLAN", "Circuits", "Cut", "DividedPorts", "Fabric", "FabricBase", "FatTree", "Fiber", "FiberBundle",
    "GroupPlan", "Lightpath", "LinkPlan", "MemoryNodeRings", "OcsRail", "PlanKind", "Route", "Sipac", "Sipam",
    "SlicedFabric", "Split", "Torus",
]  # fmt: skip

"""Fabrics: which circuits may exist, what they cost, and how a group of ranks may communicate."""

from typing import Annotated

from pydantic import Field

from costmodel.fabrics.base import NO_PLAN, Circuits, Cut, FabricBase, GroupPlan, LinkPlan, PlanKind
from costmodel.fabrics.fat_tree import FatTree
from costmodel.fabrics.lightpath import FiberBundle, Lightpath

Fabric = Annotated[Lightpath | FatTree, Field(discriminator="kind")]

__all__ = [
    "NO_PLAN", "Circuits", "Cut", "Fabric", "FabricBase", "FatTree", "FiberBundle", "GroupPlan", "Lightpath",
    "LinkPlan", "PlanKind",
]  # fmt: skip

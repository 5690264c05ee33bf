"""Fabrics: which circuits may exist, what they cost, and how a group of ranks may communicate."""

from typing import Annotated

from pydantic import Field

from costmodel.fabrics.base import NO_PLAN, Circuits, Cut, FabricBase, GroupPlan, LinkPlan, PlanKind, Split
from costmodel.fabrics.fat_tree import FatTree
from costmodel.fabrics.lightpath import Fiber, FiberBundle, Lightpath, Route

Fabric = Annotated[Lightpath | FatTree, Field(discriminator="kind")]

__all__ = [
    "NO_PLAN", "Circuits", "Cut", "Fabric", "FabricBase", "FatTree", "Fiber", "FiberBundle", "GroupPlan", "Lightpath",
    "LinkPlan", "PlanKind", "Route", "Split",
]  # fmt: skip

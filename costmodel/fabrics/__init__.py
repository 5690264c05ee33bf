"""Fabrics: which circuits may exist, what they cost, and how a group of ranks may communicate."""

from costmodel.collectives.circuits import Circuits
from costmodel.fabrics.across_racks import links_of, racks_of
from costmodel.fabrics.base import FabricBase, SliceShape, Split
from costmodel.fabrics.divided_ports import DividedPorts
from costmodel.fabrics.fat_tree import FatTree, Islands, fat_tree_of
from costmodel.fabrics.fibers import Fiber, FiberBundle, Route
from costmodel.fabrics.group_plans import NO_PLAN, GroupPlan, LinkPlan, PlanKind
from costmodel.fabrics.inventory import PRICE_CLASSES, Inventory, Parts, PriceClass, priced
from costmodel.fabrics.lightpath import Lightpath
from costmodel.fabrics.memory_node_rings import MemoryNodeRings
from costmodel.fabrics.ocs_rail import OcsRail
from costmodel.fabrics.pool_plans import PoolPlans, plans_by_pool
from costmodel.fabrics.server_shares import ServerShares
from costmodel.fabrics.sipac import Sipac
from costmodel.fabrics.sipam import Sipam
from costmodel.fabrics.sliced import SlicedFabric
from costmodel.fabrics.torus import Torus
from costmodel.fabrics.union import SHIPPED, Fabric, outside_fabrics
from costmodel.fabrics.upper import UpperFibers, UpperLayer, UpperPackets, UpperPart, UpperSwitches

__all__ = [
    "NO_PLAN", "PRICE_CLASSES", "SHIPPED", "Circuits", "DividedPorts", "Fabric", "FabricBase", "FatTree",
    "Fiber", "FiberBundle", "GroupPlan", "Inventory", "Islands", "Lightpath", "LinkPlan", "MemoryNodeRings",
    "OcsRail", "Parts", "PlanKind", "PoolPlans", "PriceClass", "Route", "ServerShares", "Sipac", "Sipam",
    "SliceShape", "SlicedFabric", "Split", "Torus", "UpperFibers", "UpperLayer", "UpperPackets", "UpperPart",
    "UpperSwitches", "fat_tree_of", "links_of", "outside_fabrics", "plans_by_pool", "priced", "racks_of",
]  # fmt: skip

"""Clusters read from what schedulers and topology tools know of nodes: `planner import`."""

from planner.integrations.inventories.cluster_file import ImportedCluster, imported
from planner.integrations.inventories.inventory import Inventory, InventoryNode, Known
from planner.integrations.inventories.sources import SOURCES

__all__ = ["SOURCES", "ImportedCluster", "Inventory", "InventoryNode", "Known", "imported"]

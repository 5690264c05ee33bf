"""Readers of inventories by the name that users give."""

from collections.abc import Callable, Sequence
from pathlib import Path

from planner.integrations.inventories.infragraph import read_infragraph
from planner.integrations.inventories.inventory import Inventory, Known
from planner.integrations.inventories.kubernetes import read_kubernetes
from planner.integrations.inventories.slurm import read_slurm
from planner.integrations.inventories.topograph import read_topograph

SOURCES: dict[str, Callable[[Sequence[Path], Known], Inventory]] = {
    "slurm": read_slurm,
    "kubernetes": read_kubernetes,
    "topograph": read_topograph,
    "infragraph": read_infragraph,
}

"""What topograph writes: a topology of Slurm (topology.conf, topology.yaml), or labels on nodes of Kubernetes."""

from collections.abc import Sequence
from pathlib import Path

from planner.integrations.inventories.inventory import Inventory, Known
from planner.integrations.inventories.kubernetes import read_kubernetes
from planner.integrations.inventories.slurm import read_slurm
from planner.model import files

REMEDY = "give topology.conf, topology.yaml, or what `kubectl get nodes -o json` says"


def read_topograph(paths: Sequence[Path], known: Known) -> Inventory:
    """As from Kubernetes where a file lists objects of it, else as from Slurm."""
    first = files.read_text(paths[0], wanted="an output of topograph", remedy=REMEDY)
    head = first.lstrip()
    is_list = head.startswith(("{", "apiVersion:")) and "items" in files.parse_text(first, str(paths[0]))
    return read_kubernetes(paths, known) if is_list else read_slurm(paths, known)

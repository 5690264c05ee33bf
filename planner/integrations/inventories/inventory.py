"""What every source tells of a cluster: its nodes with accelerators, in which rack each is, and what is down."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from planner.model.errors import InputError


@dataclass(frozen=True)
class InventoryNode:
    """One host."""

    name: str
    accelerators: int
    """that it should have"""
    product: str = ""
    """as the source names its accelerators; empty where it does not"""
    rack: str = ""
    """name of its block, leaf switch or domain; empty where there is none"""
    down: str = ""
    """why it runs nothing now; empty where it does"""
    unhealthy: int = 0
    """of its accelerators, those that run nothing now"""
    partitions: tuple[str, ...] = ()
    """names of the parts of its rack that it is in, the largest first; none where the source does not say"""


@dataclass(frozen=True)
class Known:
    """What the operator says where a source does not."""

    accelerators: int | None = None
    """of each node that the source gives none"""
    topology: str | None = None
    """which of several topologies of a file"""
    rack_label: str | None = None
    """label of nodes whose value is their rack"""


@dataclass(frozen=True)
class Inventory:
    """Nodes with accelerators, each once, racks and nodes in the order of their names and numbers, nodes by partitions
    first."""

    where: str
    """files that were read, for messages"""
    nodes: tuple[InventoryNode, ...]
    notes: tuple[str, ...] = ()
    """what was left out or taken for granted, in words"""

    @classmethod
    def of(cls, where: str, nodes: Iterable[InventoryNode], notes: Iterable[str] = ()) -> "Inventory":
        """Nodes without accelerators are left out, which is told; InputError where none is left or one comes twice."""
        listed = sorted(nodes, key=lambda node: (natural(node.rack), node.partitions, natural(node.name)))
        names = [node.name for node in listed]
        for first, second in zip(sorted(names), sorted(names)[1:], strict=False):
            if first == second:
                raise InputError(where, f"node {first}", "is given twice; give each node once")
        without = [node.name for node in listed if node.accelerators == 0]
        kept = tuple(node for node in listed if node.accelerators > 0)
        if not kept:
            problem = "no node has accelerators; give --accelerators where the inventory does not say how many"
            raise InputError(where, "nodes", problem)
        told = [f"{some(without)} without accelerators: left out"] if without else []
        return cls(where, kept, (*notes, *told))


def natural(name: str) -> tuple[tuple[int, int, str], ...]:
    """Order of names in which n2 comes before n10."""
    return tuple((0, int(part), part) if part.isdigit() else (1, 0, part) for part in re.split(r"(\d+)", name) if part)


def some(names: Iterable[str]) -> str:
    """Names in words, the first three and how many more."""
    listed = list(names)
    more = f" and {len(listed) - 3} more" if len(listed) > 3 else ""
    return ", ".join(listed[:3]) + more

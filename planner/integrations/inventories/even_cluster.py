"""The least even cluster that holds an inventory: racks of as many servers of as many accelerators, the rest failed."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from planner.integrations.inventories.inventory import Inventory, InventoryNode, some
from planner.model.errors import InputError

MOST_ABSENT = 0.5
"""share of an even cluster that may be there only to make it even"""


@dataclass(frozen=True)
class ServerNodes:
    """One server: a node, or the nodes of a rack that are one scale-up domain."""

    nodes: tuple[InventoryNode, ...]

    @property
    def accelerators(self) -> int:
        return sum(node.accelerators for node in self.nodes)

    @property
    def working(self) -> list[bool]:
        """Of each accelerator, in the order of the nodes."""
        return [
            not node.down and slot < node.accelerators - node.unhealthy
            for node in self.nodes
            for slot in range(node.accelerators)
        ]


@dataclass(frozen=True)
class EvenCluster:
    """Servers in racks; None stands for one that is not there."""

    racks: tuple[tuple[ServerNodes | None, ...], ...]
    accelerators: int
    """of each server"""
    notes: tuple[str, ...]

    @property
    def servers(self) -> list[ServerNodes | None]:
        """Of all racks, as a fabric numbers them."""
        return [server for rack in self.racks for server in rack]

    @property
    def failed(self) -> list[tuple[int, int]]:
        """(server, slot) of what does not run, or is not there."""
        return [
            (number, slot)
            for number, server in enumerate(self.servers)
            for slot in range(self.accelerators)
            if server is None or slot >= server.accelerators or not server.working[slot]
        ]


def even_cluster(inventory: Inventory, *, one_rack: bool = False, join: bool = False) -> EvenCluster:
    """Racks as they are, or one of all nodes, or one whose servers are the racks; InputError where most of it would
    not be there."""
    racks = [tuple(nodes) for _, nodes in groupby(inventory.nodes, lambda node: node.rack)]
    if join:
        shelves = [[ServerNodes(nodes) for nodes in racks]]
    elif one_rack:
        shelves = [[ServerNodes((node,)) for nodes in racks for node in nodes]]
    else:
        shelves = [[ServerNodes((node,)) for node in nodes] for nodes in racks]
    longest = max(map(len, shelves))
    most = max(server.accelerators for shelf in shelves for server in shelf)
    placed = tuple((*shelf, *[None] * (longest - len(shelf))) for shelf in shelves)
    there, places = sum(node.accelerators for node in inventory.nodes), len(shelves) * longest * most
    if places - there > MOST_ABSENT * places:
        problem = (
            f"{len(shelves)} racks of up to {longest} servers of up to {most} accelerators are {places} places for "
            f"{there} accelerators: too uneven; give --one-rack, or an inventory of nodes that are alike"
        )
        raise InputError(inventory.where, "nodes", problem)
    return EvenCluster(placed, most, (*inventory.notes, *_notes(inventory, shelves, longest, most, join)))


def _notes(
    inventory: Inventory, shelves: Sequence[Sequence[ServerNodes]], longest: int, most: int, join: bool
) -> list[str]:
    """What was made even, and what is down."""
    notes = []
    if short := [shelf[0].nodes[0].rack for shelf in shelves if len(shelf) < longest]:
        absent = sum(longest - len(shelf) for shelf in shelves)
        notes.append(f"racks {some(short)} have fewer than {longest} servers: {absent} not there count as failed")
    small = [server for shelf in shelves for server in shelf if server.accelerators < most]
    if small:
        names = [server.nodes[0].rack if join else server.nodes[0].name for server in small]
        notes.append(f"{some(names)} have fewer than {most} accelerators: what is not there counts as failed")
    notes += [f"{node.name} is failed: {node.down}" for node in inventory.nodes if node.down]
    return notes

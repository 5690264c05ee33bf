"""Racks and nodes of unequal size, filled with failed parts or refused."""

import pytest

from planner.integrations.inventories.even_cluster import even_cluster
from planner.integrations.inventories.inventory import Inventory, InventoryNode
from planner.model.errors import InputError


def _inventory(sizes: dict[str, list[int]]) -> Inventory:
    nodes = [InventoryNode(f"{rack}{n}", size, "", rack) for rack, each in sizes.items() for n, size in enumerate(each)]
    return Inventory.of("nodes.json", nodes)


def test_what_is_not_there_is_failed_and_told() -> None:
    even = even_cluster(_inventory({"a": [4, 4, 4], "b": [4, 2]}))
    assert ([*map(len, even.racks)], even.accelerators) == ([3, 3], 4)
    assert even.failed == [(4, 2), (4, 3), *((5, slot) for slot in range(4))]
    assert even.notes == (
        "racks b have fewer than 3 servers: 1 not there count as failed",
        "b1 have fewer than 4 accelerators: what is not there counts as failed",
    )


def test_one_rack_needs_no_filling() -> None:
    even = even_cluster(_inventory({"a": [4, 4, 4], "b": [4, 4]}), one_rack=True)
    assert ([*map(len, even.racks)], even.failed, even.notes) == ([5], [], ())


def test_what_would_mostly_be_missing_is_refused() -> None:
    with pytest.raises(InputError, match="too uneven; give --one-rack"):
        even_cluster(_inventory({"a": [8] * 7, "b": [1], "c": [1]}))


def test_nodes_that_are_down_or_unwell_are_failed() -> None:
    nodes = (InventoryNode("a", 2, down="drained"), InventoryNode("b", 2, unhealthy=1), InventoryNode("c", 2))
    even = even_cluster(Inventory.of("x", nodes))
    assert (even.failed, even.notes) == ([(0, 0), (0, 1), (1, 1)], ("a is failed: drained",))
    joined = even_cluster(Inventory.of("x", nodes), join=True)
    assert (len(joined.servers), joined.accelerators, joined.failed) == (1, 6, [(0, 0), (0, 1), (0, 3)])

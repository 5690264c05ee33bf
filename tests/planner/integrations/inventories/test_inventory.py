"""Nodes of all sources: their order, and those that are left out."""

import pytest

from planner.integrations.inventories.inventory import Inventory, InventoryNode, natural, some
from planner.model.errors import InputError


def test_names_are_in_the_order_of_their_numbers() -> None:
    assert sorted(["n10", "n9", "m-2", "n"], key=natural) == ["m-2", "n", "n9", "n10"]
    nodes = [InventoryNode(name, 1, rack=rack) for name, rack in [("b", "r10"), ("c", "r2"), ("a", "r10")]]
    assert [node.name for node in Inventory.of("x", nodes).nodes] == ["c", "a", "b"]


def test_nodes_without_accelerators_are_left_out() -> None:
    found = Inventory.of("x", [InventoryNode(name, int(name == "g")) for name in "abcdg"], ["first"])
    assert ([node.name for node in found.nodes], found.notes) == (
        ["g"],
        ("first", f"{some('abcd')} without accelerators: left out"),
    )
    assert some("abcd") == "a, b, c and 1 more"
    with pytest.raises(InputError, match="give --accelerators"):
        Inventory.of("x", [InventoryNode("a", 0)])
    with pytest.raises(InputError, match="node a: is given twice"):
        Inventory.of("x", [InventoryNode("a", 1), InventoryNode("a", 1)])

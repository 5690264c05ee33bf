"""Which server each node of a scheduler is, alone or with others."""

from collections.abc import Mapping

import pytest

from planner.integrations.nodes import server_of_node, server_of_nodes
from planner.model.errors import InputError
from tests.planner.simulate.grounds import cluster

RACK = cluster("fat_tree", servers=2)
"""two servers of eight accelerators"""


def test_several_nodes_of_a_server_keep_the_order_of_the_file() -> None:
    found = server_of_nodes({"b[08-09]": "s1", "a1": "s0", "a0": "s0"}, RACK, "x")
    assert list(found.items()) == [("b08", "s1"), ("b09", "s1"), ("a1", "s0"), ("a0", "s0")]


@pytest.mark.parametrize("nodes", ["n[0-1]", {"n1": "s0", "n0": "s1"}])
def test_one_node_for_each_server_is_read_alike(nodes: Mapping[str, str] | str) -> None:
    assert server_of_nodes(nodes, RACK, "x") == server_of_node(nodes, RACK, "x")


@pytest.mark.parametrize(
    ("nodes", "said"),
    [
        ({"n[0-1]": "s0", "n[2-3]": "s2"}, r"nodes.n\[2-3\]: there is no server 's2'; servers are s0 to s1"),
        ({"n[0-1]": "s0"}, "none is server s1; name its node"),
        ({"n[0-1]": "s0", "n[1-2]": "s1"}, "n1 is given twice; give each node once"),
        ({"n[0-1]": "s0", "n[2-4]": "s1"}, "3 are server s1 and 2 server s0; give each server as many"),
        ({"n[0-2]": "s0", "n[3-5]": "s1"}, "3 are server s0, whose 8 accelerators they cannot share equally"),
        ("n[0-3]", "are 4 for 2 servers; name as many, each once"),
    ],
)
def test_what_is_wrong_is_told_with_its_remedy(nodes: Mapping[str, str] | str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        server_of_nodes(nodes, RACK, "x")


def test_a_scheduler_of_one_node_for_each_server_takes_no_more() -> None:
    with pytest.raises(InputError, match=r"nodes.n1: is server s0, as n0 is; give it another"):
        server_of_node({"n0": "s0", "n1": "s0"}, RACK, "x")

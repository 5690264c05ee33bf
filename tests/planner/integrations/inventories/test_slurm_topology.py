"""topology.conf and topology.yaml in the forms of their manual."""

import pytest

from planner.integrations.inventories.slurm_topology import read_topology
from planner.model.errors import InputError

TOPOLOGIES = """---
- topology: flat
  flat: true
- topology: racks
  cluster_default: true
  block: {block_sizes: [2, 4], blocks: [{block: b1, nodes: 'n[0,2]'}, {block: b2, nodes: n1}]}
- topology: switches
  tree: {switches: [{switch: top, children: 's[1-2]'}, {switch: s1, nodes: n0}, {switch: s2, nodes: 'n[1-2]'}]}
"""


def test_leaf_switches_are_racks() -> None:
    tree = "SwitchName=l1 Nodes=n[0-1] LinkSpeed=9\nSwitchName=l2 Nodes=n2\nSwitchName=top Switches=l[1-2]\n"
    found = read_topology(tree, "topology.conf")
    assert (found.kind, found.of_node) == ("leaf switch", {"n0": "l1", "n1": "l1", "n2": "l2"})


def test_blocks_are_racks_and_their_sizes_are_told() -> None:
    found = read_topology("# x\nBlockName=b1 Nodes=n[08-09]\nblockname=b2 nodes=n10 # last\nBlockSizes=2,4\n", "x")
    assert found.of_node == {"n08": "b1", "n09": "b1", "n10": "b2"}
    assert found.notes == ("Slurm plans by block sizes 2, 4: racks here are whole blocks",)


def test_of_several_topologies_one_is_taken() -> None:
    assert read_topology(TOPOLOGIES, "x").of_node == {"n0": "b1", "n2": "b1", "n1": "b2"}
    assert read_topology(TOPOLOGIES, "x", "switches").of_node == {"n0": "s1", "n1": "s2", "n2": "s2"}
    with pytest.raises(InputError, match="there are flat, racks, switches"):
        read_topology(TOPOLOGIES, "x", "other")
    with pytest.raises(InputError, match="neither a block nor a tree"):
        read_topology(TOPOLOGIES, "x", "flat")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("BlockName=b1 Nodes=n[0-1]\nBlockName=b2 Nodes=n[1-2]\n", "n1 is in b1, too"),
        ("BlockName=b1 Nodes=n[0-\n", "is no list of hosts"),
        ("BlockName=b1\n", "line 1, Nodes"),
        ("SwitchName=top Switches=l[1-2]\n", "names no nodes"),
        ("anything", "neither topology.conf"),
        ("- {topology: a, block: {blocks: [{block: b}]}}", "b.nodes"),
        ("- topology: [", "no valid YAML"),
    ],
)
def test_what_is_wrong_is_named(content: str, said: str) -> None:
    with pytest.raises(InputError) as error:
        read_topology(content, "x")
    assert said in str(error.value)

"""Nodes of TPU cubes by the partitions that their labels name: each is the host that it should be."""

from dataclasses import replace
from itertools import product
from random import Random
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from planner.integrations.inventories.cluster_file import ImportedCluster, imported
from planner.integrations.inventories.inventory import Inventory, InventoryNode
from planner.integrations.inventories.partitions import are_hosts, partitions_named
from planner.integrations.kubernetes.config import Kubernetes, KubernetesSite

BOXES = ((2, 4, 4), (2, 2, 4), (2, 2, 2), (2, 2, 1))


def cube(name: str, random: Random) -> list[InventoryNode]:
    """Hosts of a cube with the names that a cloud would give its partitions; the node's name says where it is."""
    ids = {}
    for box in BOXES:
        for origin in product(*(range(0, 4, extent) for extent in box)):
            ids[box, origin] = f"{random.getrandbits(128):032x}"
    found = []
    for x, y, z in product((0, 2), (0, 2), range(4)):
        at = [tuple(p // e * e for p, e in zip((x, y, z), box, strict=True)) for box in BOXES]
        names = tuple(ids[box, origin] for box, origin in zip(BOXES, at, strict=True))
        found.append(InventoryNode(f"{name}-{x}{y}{z}", 4, "tpu7x", name, partitions=names))
    random.shuffle(found)
    return found


def made(*nodes: InventoryNode, **options: Any) -> ImportedCluster:
    return imported(Inventory.of("nodes.json", nodes), fabric="torus", join=True, **options)


@given(st.integers(0, 10**6))
def test_every_partition_of_chips_is_one_partition_of_nodes(seed: int) -> None:
    """By the names of the nodes, which say where they are: boxes of chips that the plan takes are boxes of hosts."""
    random = Random(seed)
    nodes = [*cube("a", random), *cube("b", random)]
    named = {node.name: node.partitions for node in nodes}
    found = made(*nodes)
    fabric: Any = found.cluster.fabric
    assert [*fabric.partitions] == [*reversed(BOXES)]
    names = yaml.safe_load(found.names)["nodes"]
    site = KubernetesSite(Kubernetes.model_validate({"nodes": names}), found.cluster, names)
    for level, box in enumerate(BOXES):
        taken = []
        for server, each in product(range(2), fabric.slices(box)):
            hosts = {site.on_node(server, slot)[0] for slot in each.slots}
            (partition,) = {named[host][level] for host in hosts}
            assert len(hosts) == len(each.slots) // 4
            taken.append(partition)
        assert sorted(taken) == sorted({partitions[level] for partitions in named.values()})


def test_chips_of_a_node_that_is_down_are_those_of_its_host() -> None:
    nodes = [replace(node, down="not ready") if node.name == "a-022" else node for node in cube("a", Random(2))]
    found = made(*nodes)
    names = yaml.safe_load(found.names)["nodes"]
    site = KubernetesSite(Kubernetes.model_validate({"nodes": names}), found.cluster, names)
    failed = [found.cluster.fabric.parse_device(name) for name in found.cluster.health.failed_tiles]
    assert {site.on_node(*device)[0] for device in failed} == {"a-022"}
    assert len(failed) == 4
    chips = [(slot // 16, slot // 4 % 4, slot % 4) for _, slot in failed]
    assert [max(axis) - min(axis) for axis in zip(*chips, strict=True)] == [1, 1, 0], "a box of 2 x 2 x 1"


def test_cubes_whose_hosts_are_not_all_known_have_no_partitions() -> None:
    nodes = cube("a", Random(1))
    assert are_hosts(sorted(nodes, key=lambda node: node.partitions))
    assert "partitions" in made(*nodes).text
    for wrong in (nodes[1:], [replace(nodes[0], partitions=nodes[1].partitions), *nodes[1:]],
                  [replace(nodes[0], partitions=()), *nodes[1:]]):  # fmt: skip
        assert "partitions" not in made(*wrong).text


@pytest.mark.parametrize("missing", ["4x4x4", "2x4x4", "2x2x4", "2x2x2", "2x2x1"])
def test_all_labels_are_needed(missing: str) -> None:
    labels = {f"cloud.google.com/gke-tpu-partition-{shape}-id": shape for shape in ("4x4x4", "2x4x4", "2x2x4", "2x2x2",
                                                                                   "2x2x1")}  # fmt: skip
    assert partitions_named(labels) == ("2x4x4", "2x2x4", "2x2x2", "2x2x1")
    assert partitions_named({key: text for key, text in labels.items() if text != missing}) == ()

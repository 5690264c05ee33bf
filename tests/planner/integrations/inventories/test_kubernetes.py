"""Nodes as `kubectl get nodes -o json` writes them, with labels of the GPU operator, topograph and GKE."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from planner.integrations.inventories.cluster_file import imported
from planner.integrations.inventories.inventory import Inventory, Known
from planner.integrations.inventories.kubernetes import read_kubernetes
from planner.integrations.inventories.topograph import read_topograph
from planner.integrations.kubernetes.config import load_site
from planner.model.errors import InputError

PRODUCT = "nvidia.com/gpu.product"
LEAF = "network.topology.nvidia.com/leaf"


def _node(name: str, *, gpus: int = 8, ready: str = "True", usable: int | None = None, **more: Any) -> dict[str, Any]:
    labels = {"kubernetes.io/hostname": name, PRODUCT: "NVIDIA-H100-80GB-HBM3", **more.pop("labels", {})}
    status = {
        "capacity": {"cpu": "96", "nvidia.com/gpu": str(gpus)},
        "allocatable": {"nvidia.com/gpu": str(gpus if usable is None else usable)},
        "conditions": [{"type": "MemoryPressure", "status": "False"}, {"type": "Ready", "status": ready}],
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": more,
        "status": status,
    }


def _read(folder: Path, nodes: list[dict[str, Any]], *others: dict[str, Any], label: str | None = None) -> Inventory:
    paths = [folder / f"{number}.json" for number in range(1 + len(others))]
    for path, data in zip(paths, ({"kind": "List", "items": nodes}, *others), strict=True):
        path.write_text(json.dumps(data), "utf-8")
    return read_kubernetes(paths, Known(rack_label=label))


def test_health_is_that_of_conditions_taints_and_devices(tmp_path: Path) -> None:
    gpu_taint, dead = {"key": "nvidia.com/gpu", "effect": "NoSchedule"}, {"key": "node.kubernetes.io/unreachable"}
    found = _read(tmp_path, [
        _node("a", taints=[gpu_taint]), _node("b", ready="Unknown"), _node("c", unschedulable=True),
        _node("d", taints=[gpu_taint, dead]), _node("e", usable=6), _node("control", gpus=0),
    ])  # fmt: skip
    assert {node.name: (node.down, node.unhealthy) for node in found.nodes} == {
        "a": ("", 0), "b": ("not ready", 0), "c": ("cordoned", 0), "d": ("tainted node.kubernetes.io/unreachable", 0),
        "e": ("", 2),
    }  # fmt: skip
    assert {node.product for node in found.nodes} == {"NVIDIA-H100-80GB-HBM3"}
    assert "control without accelerators: left out" in found.notes


def test_racks_by_labels_that_are_known(tmp_path: Path) -> None:
    spine = "network.topology.nvidia.com/spine"
    nodes = [_node(f"n{i}", labels={LEAF: f"leaf{i // 2}", spine: "s", "row": "r"}) for i in range(4)]
    assert [node.rack for node in _read(tmp_path, nodes).nodes] == ["leaf0", "leaf0", "leaf1", "leaf1"]
    assert {node.rack for node in _read(tmp_path, nodes, label="row").nodes} == {"r"}
    assert read_topograph([tmp_path / "0.json"], Known()).nodes[3].rack == "leaf1"
    block, sub = "cloud.google.com/gce-topology-block", "cloud.google.com/gce-topology-subblock"
    nodes = [_node(f"n{i}", labels={block: f"b{i // 2}", sub: f"s{i % 2}"}) for i in range(4)]
    assert [node.rack for node in _read(tmp_path, nodes).nodes] == ["b0/s0", "b0/s1", "b1/s0", "b1/s1"]


def test_racks_by_a_topology_of_kueue(tmp_path: Path) -> None:
    levels = [{"nodeLabel": "block"}, {"nodeLabel": "rack"}, {"nodeLabel": "kubernetes.io/hostname"}]
    topology = {"kind": "Topology", "metadata": {"name": "default"}, "spec": {"levels": levels}}
    nodes = [_node(f"n{i}", labels={"block": f"b{i}", "rack": "r0", LEAF: "x"}) for i in range(2)]
    assert [node.rack for node in _read(tmp_path, nodes, topology).nodes] == ["b0/r0", "b1/r0"]
    with pytest.raises(InputError, match="n9 lack this label"):
        _read(tmp_path, [*nodes, _node("n9")], topology)


def test_a_tpu_is_named_by_its_cloud(tmp_path: Path) -> None:
    node = _node("t", gpus=0, labels={"cloud.google.com/gke-tpu-accelerator": "tpu7x"})
    node["status"]["capacity"] |= {"google.com/tpu": "4"}
    assert [(each.accelerators, each.product) for each in _read(tmp_path, [node]).nodes] == [(4, "tpu7x")]
    node["status"]["capacity"] |= {"nvidia.com/gpu": "1"}
    with pytest.raises(InputError, match="servers have one kind"):
        _read(tmp_path, [node])


def test_the_nodes_of_a_cube_are_one_server_with_the_name_of_its_partition(tmp_path: Path) -> None:
    cubes = ["b70c", "a947"]
    nodes = [_node(f"n{i}", gpus=0, labels={
        "cloud.google.com/gke-tpu-accelerator": "tpu7x", "cloud.google.com/gce-topology-block": "b",
        "cloud.google.com/gke-tpu-partition-4x4x4-id": cubes[i // 16],
    }) for i in range(32)]  # fmt: skip
    for node in nodes:
        node["status"]["capacity"] |= {"google.com/tpu": "4"}
    made = imported(_read(tmp_path, nodes), fabric="torus", join=True)
    names = yaml.safe_load(made.names)
    assert names["partitions"] == {"s0": "a947", "s1": "b70c"}
    path = tmp_path / "kubernetes.yaml"
    path.write_text(
        yaml.safe_dump({"nodes": names["nodes"], "resources": ["google.com/tpu"]}, sort_keys=False), "utf-8"
    )
    site = load_site(path, made.cluster)
    assert site.nodes_of == {
        cube: tuple(f"n{16 * (1 - i) + k}" for k in range(16)) for i, cube in enumerate(names["partitions"])
    }
    assert site.per_node == 4


def test_another_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a list"):
        _read(tmp_path, {"a": 1})  # type: ignore[arg-type]

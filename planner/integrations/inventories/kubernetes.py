"""Nodes of a Kubernetes: `kubectl get nodes -o json` (or yaml), and a `Topology` of Kueue for its levels."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from planner.integrations.inventories.documents import count, items, mapping, text
from planner.integrations.inventories.inventory import Inventory, InventoryNode, Known, some
from planner.integrations.inventories.partitions import CUBE, partitions_named
from planner.model import files
from planner.model.errors import InputError

RESOURCES = {
    "nvidia.com/gpu": ("nvidia.com/gpu.product", "cloud.google.com/gke-accelerator"),
    "amd.com/gpu": ("amd.com/gpu.product-name",),
    "google.com/tpu": ("cloud.google.com/gke-tpu-accelerator",),
    "habana.ai/gaudi": (),
}
"""resource of accelerators -> labels that name the product"""
COUNT = "nvidia.com/gpu.count"
HOSTNAME = "kubernetes.io/hostname"
RACKS: tuple[tuple[str, ...], ...] = (
    ("accelerator.topograph.run/domain",),
    ("network.topology.nvidia.com/accelerator",),
    ("nvidia.com/gpu.clique",),
    ("fabric.topograph.run/tier-0",),
    ("network.topology.nvidia.com/leaf",),
    ("network.topology.nvidia.com/block",),
    (CUBE,),
    ("cloud.google.com/gce-topology-block", "cloud.google.com/gce-topology-subblock"),
    ("cloud.google.com/gce-topology-block",),
    ("oci.oraclecloud.com/host.rack_id",),
    ("topology.k8s.aws/network-node-layer-3",),
)
"""labels of racks, outer levels first: the first that all nodes have is taken"""
DOWN_TAINTS = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/")
"""taints that say that a node is not well; others only choose who may run there"""
REMEDY = "write it by `kubectl get nodes -o json`"


def read_kubernetes(paths: Sequence[Path], known: Known) -> Inventory:
    """Nodes of all lists; racks by `--rack-label`, by the levels of a Topology, or by labels that are known."""
    objects: list[Mapping[str, Any]] = []
    for path in paths:
        data = files.parse_text(files.read_text(path, wanted="a list of nodes", remedy=REMEDY), str(path))
        listed = items(data["items"], str(path), "items") if "items" in data else [data]
        objects += [each | {"_file": str(path)} for each in map(dict, listed)]
    where = ", ".join(map(str, paths))
    levels = _levels(objects, known)
    rows, notes = [], list[str]()
    for each in (each for each in objects if each.get("kind", "Node") == "Node"):
        row, said = _node(each, known)
        rows.append((row, _labels(each)))
        notes += said
    having = [(row, labels) for row, labels in rows if row.accelerators]
    keys = levels or next((keys for keys in RACKS if having and all({*keys} <= {*labels} for _, labels in having)), ())
    _require(keys, having, where)
    notes.append(f"racks by label {' and '.join(keys)}" if keys else "no label of racks: all nodes are one rack")
    placed = [
        replace(row, rack="/".join(labels[key] for key in keys) if row.accelerators else "") for row, labels in rows
    ]
    return Inventory.of(where, placed, notes)


def _require(keys: Sequence[str], rows: Sequence[tuple[InventoryNode, Mapping[str, str]]], where: str) -> None:
    """All nodes with accelerators have the labels of racks."""
    for key in keys:
        if lacking := [row.name for row, labels in rows if key not in labels]:
            raise InputError(where, key, f"{some(lacking)} lack this label; add it, or name another by --rack-label")


def _levels(objects: Sequence[Mapping[str, Any]], known: Known) -> tuple[str, ...]:
    """Labels down to the rack: as given, or of a Topology all but the host itself."""
    if known.rack_label is not None:
        return (known.rack_label,)
    found = [each for each in objects if each.get("kind") == "Topology"]
    if not found:
        return ()
    where, name = found[0]["_file"], str(mapping(found[0].get("metadata"), "", "metadata").get("name", ""))
    if len(found) > 1:
        raise InputError(where, f"Topology {name}", "is not the only one; give one")
    spec = mapping(found[0].get("spec"), where, "spec")
    levels = [text(each.get("nodeLabel"), where, "spec.levels.nodeLabel") for each in
              items(spec.get("levels"), where, "spec.levels")]  # fmt: skip
    return tuple(level for level in levels if level != HOSTNAME)


def _labels(node: Mapping[str, Any]) -> Mapping[str, str]:
    about = mapping(node.get("metadata"), node["_file"], "metadata")
    return {key: str(value) for key, value in mapping(about.get("labels"), node["_file"], "labels").items()}


def _node(node: Mapping[str, Any], known: Known) -> tuple[InventoryNode, list[str]]:
    where = node["_file"]
    name = text(mapping(node.get("metadata"), where, "metadata").get("name"), where, "metadata.name")
    status, labels = mapping(node.get("status"), where, f"{name}.status"), _labels(node)
    capacity = mapping(status.get("capacity"), where, f"{name}.status.capacity")
    usable = mapping(status.get("allocatable"), where, f"{name}.status.allocatable")
    found = [resource for resource in RESOURCES if count(capacity.get(resource, 0), where, f"{name}.{resource}")]
    if len(found) > 1:
        raise InputError(where, f"node {name}", f"has {' and '.join(found)}; servers have one kind: leave it out")
    resource = found[0] if found else "nvidia.com/gpu"
    number = count(capacity.get(resource, 0), where, f"{name}.{resource}")
    number = number or count(labels.get(COUNT, 0), where, f"{name}.{COUNT}") or known.accelerators or 0
    working = count(usable[resource], where, f"{name}.{resource}") if resource in usable else number
    product = next((labels[key] for key in RESOURCES[resource] if key in labels), "")
    dark = max(number - working, 0)
    notes = [f"{name}: {dark} of {number} are not allocatable: the last are failed"] if dark else []
    return InventoryNode(name, number, product, "", _down(node, where, name), dark, partitions_named(labels)), notes


def _down(node: Mapping[str, Any], where: str, name: str) -> str:
    """Why no pod starts there now."""
    status, spec = mapping(node.get("status"), where, f"{name}.status"), mapping(node.get("spec"), where, "spec")
    conditions = items(status.get("conditions"), where, f"{name}.status.conditions")
    if not any(each.get("type") == "Ready" and each.get("status") == "True" for each in conditions):
        return "not ready"
    if any(each.get("type") == "NetworkUnavailable" and each.get("status") == "True" for each in conditions):
        return "network unavailable"
    if spec.get("unschedulable"):
        return "cordoned"
    taints = [str(each.get("key")) for each in items(spec.get("taints"), where, f"{name}.spec.taints")]
    return next((f"tainted {key}" for key in taints if key.startswith(DOWN_TAINTS)), "")

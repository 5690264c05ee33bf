"""Graphs in the form of the `Infrastructure` of InfraGraph 3.1."""

from pathlib import Path

import pytest
import yaml

from planner.integrations.inventories.infragraph import read_infragraph
from planner.integrations.inventories.inventory import Inventory, Known
from planner.model.errors import InputError

GRAPH = """
name: clos
devices:
- name: board
  components: [{name: gpu, description: NVIDIA H100, count: 2, choice: xpu}]
  links: []
  edges: []
- name: server
  components:
  - {name: cpu, count: 2, choice: cpu}
  - {name: board, count: 4, choice: device}
  - {name: nic, count: 8, choice: nic}
  links: []
  edges: []
- name: switch
  components: [{name: port, count: 16, choice: port}]
  links: []
  edges: []
instances:
- {name: host, device: server, count: 4}
- {name: leaf, device: switch, count: 2}
- {name: spine, device: switch, count: 1}
links: [{name: up, physical: {bandwidth: {choice: gigabits_per_second, gigabits_per_second: 400}}}, {name: top}]
edges:
- {ep1: {instance: 'host[0:2]', component: nic}, ep2: {instance: 'leaf[0]', component: port}, scheme: one2one, link: up}
- {ep1: {instance: 'leaf[1]', component: port}, ep2: {instance: 'host[2:]', component: nic}, link: up}
- {ep1: {instance: leaf, component: port}, ep2: {instance: spine, component: port}, scheme: many2many, link: top}
"""


def _read(folder: Path, text: str) -> Inventory:
    (folder / "graph.yaml").write_text(text, "utf-8")
    return read_infragraph([folder / "graph.yaml"], Known())


def test_nodes_are_instances_with_accelerators_and_racks_their_switches(tmp_path: Path) -> None:
    found = _read(tmp_path, GRAPH)
    assert [(node.name, node.accelerators, node.product, node.rack) for node in found.nodes] == [
        ("host.0", 8, "NVIDIA H100", "leaf.0"),
        ("host.1", 8, "NVIDIA H100", "leaf.0"),
        ("host.2", 8, "NVIDIA H100", "leaf.1"),
        ("host.3", 8, "NVIDIA H100", "leaf.1"),
    ]
    assert any("50 GB/s" in note for note in found.notes)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("host[2:]", "host[2:9]", "host has 4, counted from 0"),
        ("host[2:]", "hosts", "'hosts' is no instance"),
        ("device: server", "device: other", "devices[other]"),
        ("{name: board, count: 4", "{name: server, count: 4", "contains itself"),
        ("host[2:]", "host[2]", "host.3 has no edge to a switch"),
        ("device: server, count: 4", "device: server, count: 99999999", "more than 65536"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, old: str, new: str, said: str) -> None:
    with pytest.raises(InputError) as error:
        _read(tmp_path, GRAPH.replace(old, new))
    assert said in str(error.value)


def test_without_edges_all_is_one_rack(tmp_path: Path) -> None:
    data = yaml.safe_load(GRAPH)
    del data["edges"]
    assert {node.rack for node in _read(tmp_path, yaml.safe_dump(data)).nodes} == {""}

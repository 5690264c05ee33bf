"""Inventories made even, and written as clusters that load and plan."""

import pytest
import yaml

from planner import Instance, check, solve
from planner.integrations.inventories.cluster_file import imported
from planner.integrations.inventories.inventory import Inventory, InventoryNode
from planner.integrations.nodes import server_of_node
from planner.model.errors import InputError

JOB = {"kind": "transformer_training", "model": "bert-large", "global_batch": 64, "sequence": 512}


def _inventory(sizes: dict[str, list[int]], product: str = "h100", **down: str) -> Inventory:
    nodes = [
        InventoryNode(f"{rack}-n{number}", size, product, rack, down.get(f"{rack}{number}", ""))
        for rack, all_sizes in sizes.items()
        for number, size in enumerate(all_sizes)
    ]
    return Inventory.of("nodes.json", nodes)


@pytest.mark.parametrize("fabric", ["fat_tree", "ocs_rail", "lightpath", "torus", "sipac"])
def test_an_imported_cluster_plans_a_job(fabric: str) -> None:
    made = imported(_inventory({"a": [8] * 4}, a1="down"), fabric=fabric)
    assert made.cluster.num_healthy == 24
    assert made.cluster.device.name == "h100-sxm"
    data = {
        "name": "x",
        "cluster": yaml.safe_load(made.text),
        "jobs": [{"name": "j", "workload": JOB, "accelerators": 8}],
    }
    instance = Instance.parse({"schema_version": 2, **data}, "x")
    result = solve(instance, time_limit_s=20)
    assert [each.job for each in result.plan.assignments] == ["j"]
    assert not check(instance, result.plan)
    assert not {*result.plan["j"].devices} & {*made.cluster.health.failed_tiles}


def test_the_map_of_names_is_that_of_slurm_yaml() -> None:
    made = imported(_inventory({"a": [8, 8], "b": [8, 8]}), fabric="fat_tree")
    nodes = yaml.safe_load(made.names)["nodes"]
    assert server_of_node(nodes, made.cluster, "x") == {
        "a-n0": "r0.s0",
        "a-n1": "r0.s1",
        "b-n0": "r1.s0",
        "b-n1": "r1.s1",
    }


def test_nodes_of_a_rack_may_be_one_server() -> None:
    trays = imported(_inventory({"a": [4] * 16, "b": [4] * 16}, "tpu7x", b3="x"), fabric="torus", join=True)
    assert (trays.cluster.fabric.servers, trays.cluster.fabric.devices_per_server) == (2, 64)
    assert trays.cluster.failed_devices == {(1, slot) for slot in range(12, 16)}
    assert yaml.safe_load(trays.names)["partitions"] == {"s0": "a", "s1": "b"}


def test_numbers_that_nobody_told_are_named() -> None:
    made = imported(_inventory({"a": [8]}, "b200"), fabric="fat_tree")
    assert made.notes[-1].startswith("assumed, since no inventory says it: nvlink_bandwidth, nvlink_alpha")
    assert made.notes[-1] in made.text
    assert "nvlink_bandwidth: 900 GB/s" in made.text
    assert "gpus_per_server" not in made.notes[-1]


def test_one_device_is_chosen_or_asked_for() -> None:
    mixed = Inventory.of("x", [InventoryNode("a", 8, "h100"), InventoryNode("b", 8, "a100")])
    with pytest.raises(InputError, match="are several; give one by --device"):
        imported(mixed, fabric="fat_tree")
    alone = imported(mixed, fabric="fat_tree", device="a100-sxm")
    assert (alone.cluster.fabric.num_servers, alone.notes[0]) == (1, "a have other accelerators: left out")
    with pytest.raises(InputError, match="is no name of a device of the catalog"):
        imported(_inventory({"a": [8]}, "Tesla-T4"), fabric="fat_tree")
    with pytest.raises(InputError, match="no accelerator is named"):
        imported(_inventory({"a": [8]}, ""), fabric="fat_tree")
    assert imported(_inventory({"a": [8]}, ""), fabric="fat_tree", device="h200-sxm").cluster.device.name == "h200-sxm"

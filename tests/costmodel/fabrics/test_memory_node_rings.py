"""Nodes on rings as a fabric: what a whole node has is the paper's, and groups of it share the links."""

from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from costmodel.collectives.build import schedule_of
from costmodel.collectives.limits import Limits
from costmodel.collectives.plan import CollectivePlan
from costmodel.collectives.simulate import simulate
from costmodel.fabrics import MemoryNodeRings
from costmodel.hardware.device import load_device
from costmodel.hardware.memory.node import load_dimm
from tests.memory_rings import FIELDS, NODE


def fabric(**changes: Any) -> MemoryNodeRings:
    return MemoryNodeRings.model_validate(FIELDS | changes)


def test_a_whole_node_exchanges_as_the_paper_says() -> None:
    of = fabric()
    (plan,) = of.plans("data", 8, one_server=True)
    sizes = np.array([1e3, 1e6, 1e9])
    assert plan.latency_s + plan.seconds_per_byte * sizes == pytest.approx(of.node.exchange_s(sizes, True))


@pytest.mark.parametrize("ranks", [2, 4])
def test_groups_of_a_node_share_its_links(ranks: int) -> None:
    """150 GB/s of a device over as many groups as there may be; around 16 hops, a memory node between neighbours."""
    (plan,) = fabric().plans("tensor", ranks, one_server=True)
    sent = 2 * (ranks - 1) / ranks
    assert plan.seconds_per_byte == pytest.approx(sent / (150e9 * ranks / 8))
    assert plan.latency_s == pytest.approx(2 * (ranks - 1) * 16 / ranks * 0.1e-6)
    (chain,) = fabric().plans("pipeline", ranks, one_server=True)
    assert chain.seconds_per_byte == pytest.approx(1 / (75e9 * ranks / 8))
    assert chain.latency_s == pytest.approx(16 / ranks * 0.1e-6)


@pytest.mark.parametrize("ranks", [3, 4, 5, 7, 8])
def test_both_ways_around_take_half_the_rounds_of_one_way(ranks: int) -> None:
    """As the schedule of a circulant of the nearest ranks on either side says, each side with half of the links."""
    ring, both = fabric(collectives="circulants").plans("tensor", ranks, one_server=True)
    limits = Limits(2, 2, ring.latency_s / 2 / (ranks - 1), 0.0, (ranks - 1) / ranks / ring.seconds_per_byte)
    plan = CollectivePlan("all_reduce", "circulant", ranks, limits, (1, ranks - 1), (1,), (1,))
    for message_bytes in (0.0, 1e6):
        seconds = simulate(schedule_of(plan), limits, message_bytes)
        assert both.latency_s + both.seconds_per_byte * message_bytes == pytest.approx(seconds, rel=1e-9)
    assert both.latency_s == pytest.approx(ring.latency_s * (ranks // 2) / (ranks - 1), rel=1e-9)
    assert len(fabric(collectives="circulants").plans("tensor", 2, one_server=True)) == 1


def test_between_nodes_the_slower_of_network_and_links_counts() -> None:
    slow, fast = fabric(), fabric(network_bandwidth="100 GB/s")
    assert slow.plans("data", 16, one_server=False, per_server=4)[0].seconds_per_byte == pytest.approx(
        2 * 15 / 16 / 48e9
    )
    assert fast.plans("data", 16, one_server=False, per_server=4)[0].seconds_per_byte == pytest.approx(
        2 * 15 / 16 / 75e9
    )
    assert slow.plans("pipeline", 4, one_server=False)[0].seconds_per_byte == pytest.approx(1 / 12e9)


def test_parts_for_all_others_go_round_the_shorter_way() -> None:
    """Against a count of the links that each part passes."""
    on = fabric()
    for ranks in range(2, on.devices_per_server + 1):
        passed = sum(min((b - a) % ranks, (a - b) % ranks) for a in range(ranks) for b in range(ranks))
        (plan,) = on.plans("expert", ranks, one_server=True)
        rate = on.node.collective_bytes_per_s * ranks / on.devices_per_server
        assert plan.seconds_per_byte == pytest.approx(passed / ranks / ranks / rate)
    (far,) = on.plans("expert", 16, one_server=False)
    assert far.seconds_per_byte == pytest.approx(15 / 16 / 12e9)
    (both,) = on.plans("expert", 16, one_server=False, per_server=4)
    assert both.seconds_per_byte == pytest.approx(12 / 16 / 12e9), "what stays on the ring goes beside"


def test_a_device_offloads_to_a_memory_node_over_all_its_links() -> None:
    (split,) = fabric().splits(load_device("h100-sxm"))
    tier = split.device.offload
    assert tier is not None
    assert tier.capacity_bytes == 10 * load_dimm("ddr4-2400-lrdimm-128gb").capacity_bytes
    assert tier.bandwidth_bytes_per_s == pytest.approx(150e9)
    (wide,) = fabric(node=NODE | {"links": 18}).splits(load_device("h100-sxm"))
    assert wide.device.offload is not None
    assert wide.device.offload.bandwidth_bytes_per_s == pytest.approx(256e9), "what the DIMMs of both groups deliver"


@pytest.mark.parametrize(
    ("arrangement", "nodes", "bandwidth"),
    [("direct", 0, None), ("star", 8, 50e9), ("folded_star", 8, 50e9), ("ring", 8, 150e9)],
)
def test_memory_nodes_lie_as_arranged(arrangement: str, nodes: int, bandwidth: float | None) -> None:
    """Six links a device, three rings: figure 7 of the paper gives the links of memory."""
    has_node = {"node": NODE["node"]} if nodes else {}
    node = {key: value for key, value in NODE.items() if key != "node"} | has_node | {"arrangement": arrangement}
    of = fabric(servers=1, node=node)
    (split,) = of.splits(load_device("h100-sxm"))
    assert (split.device.offload and split.device.offload.bandwidth_bytes_per_s) == bandwidth
    parts = of.inventory()
    assert (parts["memory node"].count if nodes else 0) == nodes
    assert ("memory node" in parts) == bool(nodes)


@pytest.mark.parametrize("extra", [{"host_links": 2}, {"host": {"bandwidth": "16 GB/s", "devices": 4}}])
def test_memory_of_a_host_is_refused(extra: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="accelerators of a cluster offload to memory nodes; leave it out"):
        fabric(node=NODE | extra)


def test_caches_meet_on_the_rings_or_take_the_network() -> None:
    """150 GB/s of a device, half of them in one direction, which two replicas of prompts may share."""
    [near] = fabric().transfers(2, 6, one_server=True)
    assert near.seconds_per_byte == pytest.approx(2 / 75e9)
    assert near.latency_s == pytest.approx(4 * 16 / 8 * 0.1e-6)
    [far] = fabric().transfers(2, 2, one_server=False, each=(1, 4))
    assert far.seconds_per_byte == pytest.approx(4 / 12e9)
    assert far.latency_s == pytest.approx(5e-6)


def test_shared_nodes_are_divided_by_dimms() -> None:
    """Of 25.6 GB/s and 128 GB each, over 75 GB/s of links to either side."""
    alone, *shared = fabric(shared_nodes=True).splits(load_device("h100-sxm"))
    assert (alone.memory_units, alone.device.offload) == (None, None)
    assert [(split.memory_units, split.memory_io) for split in shared] == [
        (2 * h, 2) for h in (1, 2, 3, 4, 5, 6, 8, 10)
    ]
    tiers = [split.device.offload for split in shared]
    assert [tier.bandwidth_bytes_per_s for tier in tiers if tier] == pytest.approx([51.2e9, 102.4e9, *6 * [150e9]])
    assert [tier.capacity_bytes for tier in tiers if tier] == pytest.approx(
        [256e9 * h for h in (1, 2, 3, 4, 5, 6, 8, 10)]
    )


@pytest.mark.parametrize("node", [NODE | {"devices": 1}, NODE | {"arrangement": "star"}])
def test_nodes_are_shared_on_rings_alone(node: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="shared_nodes: needs a memory node on either side of each accelerator"):
        fabric(shared_nodes=True, node=node)

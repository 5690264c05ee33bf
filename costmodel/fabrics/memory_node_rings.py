"""Nodes whose devices and memory nodes lie on rings of links, joined by a network of packets.

Source of the nodes: Kwon and Rhu, MICRO 2018. That several groups share a node and that nodes are joined is not there.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Literal, Self

from pydantic import Field, model_validator

from costmodel.collectives.circulant_offers import Offered
from costmodel.fabrics import packets
from costmodel.fabrics.base import FabricBase, Split
from costmodel.fabrics.group_plans import NO_PLAN, GroupPlan, LinkPlan
from costmodel.fabrics.inventory import Parts
from costmodel.fabrics.memory_ring import MemoryRing
from costmodel.hardware.device import Device
from costmodel.hardware.memory.tier import MemoryTier
from costmodel.parallelism.mappings import Dimension
from costmodel.spec import BytesPerSecond, JoulesPerByte, Latency
from costmodel.workloads import Workload

SIDES = ("left", "right")
"""memory nodes of a device, the way to each over half of its links"""
LISTED_DIMMS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32)
"""of one node for a device beside it"""


class MemoryNodeRings(FabricBase):
    """Every device offloads to the memory nodes beside it, over links of the rings that collectives use; where rings
    join devices alone (`direct`) it offloads to what its own tier is, if it has one. Half of each node is its own, or,
    where nodes are shared, as many DIMMs of both as its job takes.

    A group inside a node goes around all rings, past devices that are not its own: the links are divided evenly among
    as many groups of its size as a node holds, busy or not, wherever they lie. With the whole node it has what the
    paper gives it. Copies and collectives do not slow each other, as in the evaluation there.
    """

    device_letter = "d"
    links_racks = True

    kind: Literal["memory_ring"] = "memory_ring"
    node: MemoryRing
    """accelerators of a server, their links, and the memory nodes among them"""
    link_energy_j_per_byte: JoulesPerByte
    """of a byte over one link of a ring"""
    memory_latency_s: Latency
    """to the first byte from a memory node"""
    memory_energy_j_per_byte: JoulesPerByte
    """of a byte between a device and a memory node"""
    network_bandwidth_bytes_per_s: BytesPerSecond
    """of one device, one direction"""
    network_alpha_s: Latency
    """fixed time of a message between servers"""
    network_energy_j_per_byte: JoulesPerByte
    """of a byte between servers"""
    collectives: Offered = Field(default="families", exclude_if=lambda offered: offered == "families")
    """circulants: groups inside a node may also pass on parts of all-reduces both ways around the rings at once, with
    schedules that software of the job reads; families: one way around each ring alone"""
    shared_nodes: bool = False
    """whether the two devices beside a memory node divide its DIMMs as their jobs need, rather than half and half"""

    @model_validator(mode="after")
    def _has_nodes_to_share(self) -> Self:
        """Each device has a node on either side, which are two."""
        if self.shared_nodes and (self.node.arrangement != "ring" or self.node.devices < 2):
            raise ValueError(
                "shared_nodes: needs a memory node on either side of each accelerator; give node.arrangement: ring and "
                "two or more node.devices, or leave it out"
            )
        return self

    @model_validator(mode="after")
    def _has_no_host(self) -> Self:
        """Memory of a host has no size here."""
        for name in ("host", "host_links"):
            if getattr(self.node, name):
                raise ValueError(
                    f"node.{name}: accelerators of a cluster offload to memory nodes; leave it out, or take a "
                    "fat_tree whose device offloads to its host"
                )
        return self

    @property
    def devices_per_server(self) -> int:
        return self.node.devices

    def _other_parts(self, devices: Parts) -> Iterator[Parts]:
        """As many memory nodes as devices, and their DIMMs; none where rings join devices alone. Rings lie inside a
        server."""
        memory = self.node.node
        if memory is None:
            return
        nodes = self._parts_of_servers().of_each("memory node", ".n", self.node.devices, {"accelerator": 0})
        yield nodes
        yield nodes.of_each("DIMM", ".m", memory.dimms, {"memory_unit": nodes.count * memory.dimms})

    def blocks(self, spans: Sequence[int], num_devices: int) -> Sequence[int]:
        whole = self.node.devices
        sizes = {size for size in (*spans[:3], num_devices) if size <= whole}
        if num_devices % whole == 0 and whole % spans[1] == 0:
            sizes.add(whole)
        return sorted(sizes)

    def plans(self, dimension: Dimension, ranks: int, *, one_server: bool, per_server: int = 1) -> Sequence[GroupPlan]:
        if ranks == 1:
            return (NO_PLAN,)
        if dimension == "expert":
            return (self._all_to_all(ranks, ranks if one_server else per_server),)
        if dimension == "pipeline":
            return (self._forward(ranks, ranks if one_server else per_server),)
        if one_server:
            both_ways = self.collectives == "circulants" and ranks > 2
            return (self._around(ranks), self._both_ways(ranks)) if both_ways else (self._around(ranks),)
        entering = min(self._rate(per_server), per_server * self.network_bandwidth_bytes_per_s)
        return packets.all_reduces(ranks, self.network_alpha_s, entering, per_server=per_server)

    def _rate(self, ranks: int) -> float:
        """Of one of so many ranks in a node, all links of the rings together."""
        return self.node.collective_bytes_per_s * ranks / self.node.devices

    def _hop_s(self, ranks: int) -> float:
        """From a rank to the next one on the longest ring, on average over one turn."""
        return max(self.node.ring_hops) / ranks * self.node.alpha_s

    def _around(self, ranks: int) -> LinkPlan:
        sent = 2 * (ranks - 1) / ranks
        return LinkPlan("ring", ranks, 2 * (ranks - 1) * self._hop_s(ranks), sent / self._rate(ranks), sent)

    def _both_ways(self, ranks: int) -> LinkPlan:
        """A circulant of the nearest rank on either side: half as many rounds, and as much on every link."""
        sent = 2 * (ranks - 1) / ranks
        return LinkPlan(
            "circulant",
            ranks,
            2 * (ranks // 2) * self._hop_s(ranks),
            sent / self._rate(ranks),
            sent,
            radices=(1, ranks - 1),
        )

    def _all_to_all(self, ranks: int, per_server: int) -> LinkPlan:
        """Each rank sends an equal share to every other: round the rings the shorter way, which takes links of all
        ranks passed, and beside that over the network."""
        far = (ranks - per_server) / ranks / self.network_bandwidth_bytes_per_s
        if per_server == 1:
            return packets.all_to_all(ranks, self.network_alpha_s, far)
        hops = sum(min(way, per_server - way) for way in range(1, per_server)) / ranks
        near = hops / self._rate(per_server)
        if per_server < ranks:
            return packets.all_to_all(ranks, self.network_alpha_s, max(near, far), per_server)
        return LinkPlan("routed", ranks, ranks // 2 * self._hop_s(ranks), near, hops)

    def _forward(self, stages: int, per_server: int) -> LinkPlan:
        """To the next stage: in a node in one direction of the rings, elsewhere over the network."""
        if per_server == stages:
            return packets.forward(stages, self._hop_s(stages), self._rate(stages) / 2)
        rate = min(self._rate(1), self.network_bandwidth_bytes_per_s)
        return packets.forward(stages, self.network_alpha_s, rate, per_server)

    def transfers(
        self, prefill: int, decode: int, *, one_server: bool, each: tuple[int, int] = (1, 1)
    ) -> Sequence[GroupPlan]:
        """Round the rings, where at worst the caches of all replicas of the smaller pool meet, or over the network."""
        if one_server:
            ranks = prefill * each[0] + decode * each[1]
            way_s, met = ranks // 2 * self._hop_s(ranks), min(prefill, decode)
            return (packets.transfer(prefill, decode, way_s, self._rate(ranks) / 2 / met, each),)
        rate = min(self._rate(1), self.network_bandwidth_bytes_per_s)
        return (packets.transfer(prefill, decode, self.network_alpha_s, rate, each),)

    @property
    def slots_matter(self) -> bool:
        return self.shared_nodes

    @property
    def places_whole_jobs(self) -> bool:
        """A rank that moves takes DIMMs beside others of its job."""
        return self.shared_nodes

    @property
    def node_dimms(self) -> int:
        """DIMMs of each memory node that jobs divide; 0 where nodes are not shared."""
        return self.node.node.dimms if self.shared_nodes and self.node.node is not None else 0

    def splits(self, device: Device, workload: Workload | None = None) -> tuple[Split, ...]:
        """One: the device with a memory node's worth of memory to offload to, or as it is where there are no nodes.

        Where nodes are shared: the device as it is, and with each number of DIMMs of the node on either side.
        """
        memory = self.node.node
        if memory is None:
            return (Split(device, self),)
        if not self.shared_nodes:
            rate = sum(store.bandwidth_bytes_per_s for store in self.node.stores())
            return (Split(self._offloading(device, memory.capacity_bytes, rate), self),)
        alone = Split(device.model_copy(update={"offload": None}), self)
        return (alone, *map(partial(self._shared, device), self._each))

    @property
    def _each(self) -> list[int]:
        """DIMMs of either node that are listed."""
        return [each for each in LISTED_DIMMS if each <= self.node_dimms]

    def _shared(self, device: Device, each: int) -> Split:
        """The device with so many DIMMs on either side."""
        memory, links = self.node.node, self.node.memory_links // len(SIDES)
        assert memory is not None
        rate = min(links * self.node.link_bandwidth_bytes_per_s, each * memory.dimm_rate_bytes_per_s)
        both = len(SIDES) * each
        own = self._offloading(device, both * memory.dimm.capacity_bytes, len(SIDES) * rate)
        return Split(own, self, both, len(SIDES), second_tiers=SIDES)

    def _offloading(self, device: Device, capacity_bytes: float, bytes_per_s: float) -> Device:
        tier = MemoryTier(
            name="memory-node",
            source="the fabric",
            capacity_bytes=capacity_bytes,
            bandwidth_bytes_per_s=bytes_per_s,
            latency_s=self.memory_latency_s,
            energy_j_per_byte=self.memory_energy_j_per_byte,
        )
        return device.model_copy(update={"offload": tier})

    def network_j_per_byte(self, one_server: bool) -> float:
        return self.link_energy_j_per_byte if one_server else self.network_energy_j_per_byte

"""Electrical baseline: NVLink islands joined by a non-blocking InfiniBand fat tree."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

from pydantic import Field

from costmodel.counts import MOST_SERVERS
from costmodel.fabrics import packets
from costmodel.fabrics.base import FabricBase
from costmodel.fabrics.group_plans import NO_PLAN, GroupPlan, LinkPlan
from costmodel.hardware.systems import System
from costmodel.parallelism.degrees import RANK_ORDERS
from costmodel.parallelism.mappings import Dimension
from costmodel.spec import BytesPerSecond, JoulesPerByte, Latency


class Islands(FabricBase):
    """Servers whose GPUs share an NVLink switch; every GPU has its own port into the fat tree.

    Bandwidths are one direction, per GPU. Collectives are a ring, or a double binary tree where it is sooner; where
    the GPUs of a server are a mesh, as many rings as a group has other members.
    """

    links_racks = True
    rank_orders = RANK_ORDERS

    gpus_per_server: int = Field(ge=1, le=4096)
    """GPUs that NVLink joins"""
    nvlink_bandwidth_bytes_per_s: BytesPerSecond
    """of one GPU inside its server, one direction"""
    nvlink_alpha_s: Latency
    """fixed time of a message inside a server"""
    nvlink_energy_j_per_byte: JoulesPerByte
    """of a byte inside a server"""
    nvlink_is_mesh: bool = False
    """whether each pair of GPUs has a link of its own, an equal share of the bandwidth, instead of a switch"""
    network_bandwidth_bytes_per_s: BytesPerSecond
    """of one GPU between servers, one direction"""
    network_alpha_s: Latency
    """fixed time of a message between servers"""
    network_energy_j_per_byte: JoulesPerByte
    """of a byte between servers"""

    @property
    def devices_per_server(self) -> int:
        return self.gpus_per_server

    @property
    def node_bytes_per_s(self) -> float:
        return self.nvlink_bandwidth_bytes_per_s

    def blocks(self, spans: Sequence[int], num_devices: int) -> Sequence[int]:
        sizes = {size for size in (*spans[:3], num_devices) if size <= self.gpus_per_server}
        even = _even_share(num_devices, self.gpus_per_server)
        if even % spans[1] == 0:
            sizes.add(even)
        return sorted(sizes)

    def plans(self, dimension: Dimension, ranks: int, *, one_server: bool, per_server: int = 1) -> Sequence[GroupPlan]:
        if ranks == 1:
            return (NO_PLAN,)
        together = ranks if one_server else per_server
        if dimension == "pipeline":
            alpha_s, bandwidth = self._link(one_server, 2 if one_server else 1)
            return (packets.forward(ranks, alpha_s, bandwidth, together),)
        if dimension == "expert":
            return (self._all_to_all(ranks, together),)
        alpha_s, bandwidth = self._link(one_server, together)
        return packets.all_reduces(ranks, alpha_s, bandwidth, bandwidth if one_server else 0.0, together)

    def transfers(
        self, prefill: int, decode: int, *, one_server: bool, each: tuple[int, int] = (1, 1)
    ) -> Sequence[GroupPlan]:
        alpha_s, bandwidth = self._link(one_server, 2 if one_server else 1)
        return (packets.transfer(prefill, decode, alpha_s, bandwidth, each),)

    def _link(self, one_server: bool, together: int) -> tuple[float, float]:
        """Latency and bandwidth of a group's slowest link: what enters a server comes through the ports of all its
        members there, `together`, so that several of them share the way."""
        if one_server:
            return self.nvlink_alpha_s, self._near_bytes_per_s(together)
        entering = together * self.network_bandwidth_bytes_per_s
        return self.network_alpha_s, min(self._near_bytes_per_s(together), entering)

    def _near_bytes_per_s(self, together: int) -> float:
        """What each of so many GPUs of one server sends to the others of them, or to one other."""
        share = (max(together, 2) - 1) / (self.gpus_per_server - 1) if self.nvlink_is_mesh else 1.0
        return self.nvlink_bandwidth_bytes_per_s * share

    def _all_to_all(self, ranks: int, per_server: int) -> LinkPlan:
        """Each rank sends an equal share to every other; what stays in the server goes beside what leaves it."""
        near = (per_server - 1) / ranks / self._near_bytes_per_s(per_server)
        far = (ranks - per_server) / ranks / self.network_bandwidth_bytes_per_s
        alpha_s = self.nvlink_alpha_s if per_server == ranks else self.network_alpha_s
        return packets.all_to_all(ranks, alpha_s, max(near, far), per_server)

    def network_j_per_byte(self, one_server: bool) -> float:
        return self.nvlink_energy_j_per_byte if one_server else self.network_energy_j_per_byte


class FatTree(Islands):
    """Memory is local."""

    kind: Literal["fat_tree"] = "fat_tree"


def fat_tree_of(system: System, num_devices: int) -> FatTree:
    """Servers of a system for so many devices, as many on each."""
    links = {name: getattr(system, name) for name in Islands.model_fields if name in System.model_fields}
    servers = num_devices // _even_share(num_devices, system.gpus_per_server)
    return FatTree(servers=min(servers, MOST_SERVERS), **links)


@lru_cache(maxsize=4096)
def _even_share(num_devices: int, most: int) -> int:
    """Devices of each server where all of a job's give the same number, as few servers as that allows."""
    return next(share for share in range(min(most, num_devices), 0, -1) if num_devices % share == 0)

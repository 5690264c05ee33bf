"""Electrical baseline: NVLink islands joined by a non-blocking InfiniBand fat tree."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from costmodel import collectives
from costmodel.fabrics.base import NO_PLAN, FabricBase, GroupPlan, LinkPlan
from costmodel.mappings import Dimension
from costmodel.spec import BytesPerSecond, JoulesPerByte, Seconds


class FatTree(FabricBase):
    """Servers whose GPUs share an NVLink switch; every GPU has its own port into the fat tree.

    Bandwidths are one direction, per GPU. Collectives are a ring, or a double binary tree where it is sooner.
    """

    kind: Literal["fat_tree"] = "fat_tree"
    gpus_per_server: int = Field(ge=1, le=1024)
    nvlink_bandwidth_bytes_per_s: BytesPerSecond
    nvlink_alpha_s: Seconds
    nvlink_energy_j_per_byte: JoulesPerByte
    network_bandwidth_bytes_per_s: BytesPerSecond
    network_alpha_s: Seconds
    network_energy_j_per_byte: JoulesPerByte

    @property
    def devices_per_server(self) -> int:
        return self.gpus_per_server

    @property
    def device_letter(self) -> str:
        return "g"

    @property
    def links_racks(self) -> bool:
        return True

    def blocks(self, spans: Sequence[int], num_devices: int) -> Sequence[int]:
        return sorted({size for size in (*spans, num_devices) if size <= self.gpus_per_server})

    def plans(self, dimension: Dimension, ranks: int, *, one_server: bool) -> Sequence[GroupPlan]:
        if ranks == 1:
            return (NO_PLAN,)
        alpha_s = self.nvlink_alpha_s if one_server else self.network_alpha_s
        bandwidth = self.nvlink_bandwidth_bytes_per_s if one_server else self.network_bandwidth_bytes_per_s
        if dimension == "pipeline":
            return (LinkPlan("switched", ranks, alpha_s, 1 / bandwidth, 1.0),)
        if dimension == "expert":
            share = (ranks - 1) / ranks
            return (LinkPlan("switched", ranks, alpha_s, share / bandwidth, share),)
        sent = 2 * (ranks - 1) / ranks
        ring = LinkPlan("ring", ranks, 2 * (ranks - 1) * alpha_s, sent / bandwidth, sent)
        tree_latency_s = float(collectives.double_tree_all_reduce_s(0.0, ranks, alpha_s, bandwidth))
        if tree_latency_s >= ring.latency_s:
            return (ring,)
        return (ring, LinkPlan("tree", ranks, tree_latency_s, 2 / bandwidth, 2.0))

    def network_j_per_byte(self, one_server: bool) -> float:
        return self.nvlink_energy_j_per_byte if one_server else self.network_energy_j_per_byte

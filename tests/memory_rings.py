"""Rings of accelerators and memory nodes that several tests are about."""

from typing import Any

NODE: dict[str, Any] = {
    "devices": 8, "links": 6, "link_bandwidth": "25 GB/s", "alpha": "0.1 us", "arrangement": "ring",
    "node": {"dimm": "ddr4-2400-lrdimm-128gb", "dimms": 10, "groups": 2, "dimm_bandwidth": "25.6 GB/s"},
}  # fmt: skip
FIELDS: dict[str, Any] = {
    "servers": 4, "node": NODE, "link_energy": "10 pJ/b", "memory_latency": "1 us", "memory_energy": "20 pJ/b",
    "network_bandwidth": "12 GB/s", "network_alpha": "5 us", "network_energy": "30 pJ/b",
}  # fmt: skip

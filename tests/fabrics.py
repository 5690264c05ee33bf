"""One small cluster of every kind of fabric, 32 accelerators each, as instances have them."""

from typing import Any

from costmodel.fabrics import SHIPPED
from tests.planner.simulate.grounds import FABRICS as REPLAYED

PORTS: dict[str, Any] = {
    "kind": "divided_ports", "servers": 4, "gpus_per_server": 8, "nvlink_bandwidth": "450 GB/s", "nvlink_alpha": "1 us",
    "nvlink_energy": "10 pJ/b", "network_bandwidth": "50 GB/s", "network_alpha": "5 us", "network_energy": "20 pJ/b",
    "port_energy": "5 pJ/b", "memory": {"kind": "optical_modules", "part": "optical-hbm-a100"},
}  # fmt: skip
FABRICS: dict[str, dict[str, Any]] = {**REPLAYED, "divided_ports": PORTS}
KINDS = {each.model_fields["kind"].default for each in SHIPPED}
assert set(FABRICS) == KINDS, "a fabric without a cluster here is tested by nobody"
APPLIANCES = PORTS | {
    "memory": {"kind": "appliances", "part": "photonic-fabric-appliance", "ports": 4, "per_server": 2}
}
EVERY = {**FABRICS, "appliances": APPLIANCES}
"""with both kinds of memory behind divided ports"""

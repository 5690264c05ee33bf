"""Shared by the tests of `published`, `rows` and `run`."""

from typing import Any

GOOD: dict[str, Any] = {
    "paper": "some", "title": "T", "citation": "C", "experiment": "E", "kind": "dlrm_pooling",
    "inputs": {
        "tables": [1], "batch": [128], "pooling": [32], "dimension": 32, "precision": "fp32", "table": "10 TB",
        "device": "h100-sxm", "efficiency": 0.65,
        "networks": {"NVLink": {"step": "2.5 us", "bandwidth": "300 GB/s"}},
        "appliance": "photonic-fabric-appliance",
    },
    "published": [{"quantity": "devices", "value": 128, "source": "section 7"}],
}  # fmt: skip
FIGURE = GOOD["published"][0]

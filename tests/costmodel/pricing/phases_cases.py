"""Shared by the tests of `phases` and `splits_together`."""

from typing import Any

FABRIC: dict[str, Any] = {
    "kind": "sipam", "servers": 2, "accelerators_per_server": 16,
    "shoreline": {
        "name": "edge", "perimeter_mm": 96, "source": "test",
        "io": {"name": "io", "width_mm": 8, "bandwidth": "600 GB/s", "source": "test"},
    },
    "memory_unit": "memory-unit", "trays_per_server": 4, "units_per_tray": 40, "tray_ports": 4,
    "spine_rails": 2, "uplinks": 2, "switch_ports": 64,
    "alpha": "0.7 us", "reconfiguration": "25 us", "energy": "2 pJ/b",
}  # fmt: skip
SERVED: dict[str, Any] = {
    "kind": "transformer_inference", "model": "llama-3.1-70b", "concurrency": 32, "input_tokens": 4096,
    "output_tokens": 512,
}  # fmt: skip

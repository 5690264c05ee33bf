"""Shared by the tests of `pool_rack` and `sipam`."""

from typing import Any

from costmodel.fabrics import Sipam


def fabric(**changes: Any) -> Sipam:
    fields: dict[str, Any] = {
        "servers": 2, "accelerators_per_server": 32, "shoreline": "photonic-shoreline", "memory_unit": "memory-unit",
        "trays_per_server": 4, "units_per_tray": 48, "tray_ports": 8, "spine_rails": 4, "uplinks": 8,
        "switch_ports": 64, "alpha": "0.7 us", "reconfiguration": "25 us", "energy": "2 pJ/b",
    }  # fmt: skip
    return Sipam.model_validate(fields | changes)

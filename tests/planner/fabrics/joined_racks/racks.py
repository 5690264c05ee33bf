"""Three racks of two servers of two tiles and a job larger than any of them, for the tests of what joins racks."""

from typing import Any

from planner.model.instance import Instance
from planner.model.plan import Plan
from planner.model.result import SolveOptions, Status
from planner.pipeline import solve
from tests.oracles.tiny_instances import SMALL

PACKETS = {"kind": "packets", "bandwidth": "50 GB/s", "oversubscription": 2, "alpha": "2 us", "energy": "10 pJ/b"}
SWITCHES = {
    "kind": "switches", "ports": 2, "radix": 6, "bandwidth": "50 GB/s", "reconfiguration": "10 ms", "alpha": "2 us",
    "energy": "10 pJ/b",
}  # fmt: skip
FIBERS = {
    "kind": "fibers", "fibers": 1, "wavelengths_per_fiber": 2, "wavelength_bandwidth": "25 GB/s", "alpha": "2 us",
    "energy": "10 pJ/b",
}  # fmt: skip
KINDS = {"packets": PACKETS, "switches": SWITCHES, "fibers": FIBERS}
FABRIC = {
    "kind": "lightpath", "racks": 3, "servers": 2, "tiles_per_server": 2, "wavelengths_per_tile": 4, "max_peers": 3,
    "wavelength_bandwidth": "40 GB/s", "fibers": 1, "wavelengths_per_fiber": 4, "alpha": "0.7 us",
    "reconfiguration": "3.7 us", "energy": "1.5 pJ/b",
}  # fmt: skip
FABRICS: dict[str, dict[str, Any]] = {
    "lightpath": FABRIC,
    "torus": {
        "kind": "torus", "racks": 3, "servers": 1, "sides": [2, 2, 2], "link_bandwidth": "50 GB/s", "alpha": "1 us",
        "link_energy": "10 pJ/b", "switches": {"ports": 16, "energy": "1 pJ/b"},
    },
    "sipac": {
        "kind": "sipac", "racks": 3, "servers": 2, "radix": 2, "digits": 2, "alpha": "1 us", "bandwidth": "300 GB/s",
        "energy": "5 pJ/b",
    },
    "sipam": {
        "kind": "sipam", "racks": 3, "servers": 1, "accelerators_per_server": 4, "shoreline": "photonic-shoreline",
        "memory_unit": "memory-unit", "trays_per_server": 2, "units_per_tray": 12, "tray_ports": 4, "spine_rails": 4,
        "uplinks": 4, "switch_ports": 64, "alpha": "1 us", "reconfiguration": "25 us", "energy": "5 pJ/b",
    },
}  # fmt: skip
TRAINING = {"kind": "transformer_training", "model": SMALL, "global_batch": 12, "sequence": 512, "micro_batch": 1}
OPTIONS = SolveOptions(time_limit_s=600.0, workers=1, deterministic_limit=20.0)


def racks(upper: dict[str, Any] | None, *sizes: int, health: dict[str, Any] | None = None, **fabric: Any) -> Instance:
    """Jobs j0, j1, ... of these sizes."""
    above = {} if upper is None else {"upper": upper}
    return Instance.parse({
        "schema_version": 2,
        "name": "racks",
        "cluster": {"device": "h100-sxm", "fabric": {**FABRIC, **above, **fabric}, "health": health or {}},
        "jobs": [{"name": f"j{j}", "workload": TRAINING, "accelerators": size} for j, size in enumerate(sizes)],
        "objectives": ["value"],
    })  # fmt: skip


def best(instance: Instance) -> Plan:
    """A plan that is proven to have the most value."""
    result = solve(instance, options=OPTIONS)
    assert result.status is Status.OPTIMAL
    assert result.plan is not None
    return result.plan

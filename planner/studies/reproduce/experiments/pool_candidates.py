"""Steps on photonic memory pools and on servers with local memory, both as the planner's candidates."""

from collections.abc import Iterator, Mapping

from pydantic import TypeAdapter

from costmodel.fabrics import Fabric, FabricBase, fat_tree_of
from costmodel.hardware.device import load_device
from costmodel.hardware.systems import system_of
from costmodel.pricing.search import search
from planner.studies.reproduce.experiments.pool_rooflines import Inputs, Phase

RACK = 32
"""accelerators of a rack of the pool"""
LIGHT = {
    "kind": "sipam", "accelerators_per_server": RACK, "trays_per_server": 4, "units_per_tray": 320, "tray_ports": 8,
    "spine_rails": 4, "uplinks": 8, "switch_ports": 4096, "alpha": "0.7 us", "reconfiguration": "25 us",
    "energy": "2 pJ/b",
}  # fmt: skip
"""racks as in the shipped instances, but with units and ports to spare: the paper gives neither"""


def gains(
    inputs: Inputs, device: str, accelerators: Mapping[tuple[str, Phase], int]
) -> Iterator[tuple[str, Phase, float]]:
    """Step on servers of the device over that on the pool, each by its fastest candidate on as many accelerators; of
    those that fit both."""
    system = system_of(device)
    for (label, phase), count in accelerators.items():
        local_s = _least_s(inputs, (label, phase), device, fat_tree_of(system, count), count)
        if local_s is not None:
            light_s = _least_s(inputs, (label, phase), device, _of_light(inputs, count), count)
            if light_s is not None:
                yield label, phase, local_s / light_s


def _least_s(
    inputs: Inputs, step: tuple[str, Phase], device: str, fabric: FabricBase, accelerators: int
) -> float | None:
    """Of the candidates on all accelerators; None where none fits."""
    best = search(inputs.job(*step), [accelerators], load_device(device), fabric, top=1).best
    return float(best[0].scores.step_s[0]) if best else None


def _of_light(inputs: Inputs, accelerators: int) -> FabricBase:
    parts = {"shoreline": inputs.pool.shoreline, "memory_unit": inputs.pool.unit}
    return TypeAdapter(Fabric).validate_python(LIGHT | parts | {"servers": -(-accelerators // RACK)})

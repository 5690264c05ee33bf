"""Training with another memory: MFU of the best mapping on each system, under menus of mappings; figure 5 of the paper.

The systems differ in bandwidth and capacity of the local memory alone. Behind the L2, bandwidth is
min(memory, cache / passes), as in the inference experiments of the paper.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from costmodel.fabrics import FabricBase, fat_tree_of
from costmodel.hardware.device import BYTES_OF_PRECISION, Device, load_device
from costmodel.hardware.memory.derive import with_memory
from costmodel.hardware.memory.limits import cache_limit
from costmodel.hardware.optical_hbm import load_optical_hbm
from costmodel.hardware.systems import system_of
from costmodel.pricing.calibration import Calibration, Numbers
from costmodel.pricing.efficiency import Efficiency
from costmodel.pricing.search import Option, mfu, priced_batches, search
from costmodel.spec import Bytes, Spec
from costmodel.workloads import TransformerTraining

Floats = NDArray[np.float64]
BASELINE, BANDWIDTH, CAPACITY, BOTH = "baseline", "bandwidth alone", "capacity alone", "both"
BEHIND_L2 = " behind the L2"


class Kernels(Spec):
    """Efficiencies of the accelerator's kernels, the same on all systems."""

    attention: Literal["fused", "unfused"]
    efficiency: Efficiency | None = None
    """absent: that fitted on the device, of the catalog"""


class GainSweep(Spec):
    """Kernels, menus and sizes that the figure sweeps."""

    kernels: str
    menu: str
    beside: str
    """the menu of which only the best mappings are drawn"""
    sizes: tuple[int, ...] = Field(min_length=1)
    """numbers of accelerators"""


class Inputs(Spec):
    """A device, its optical memory, what is trained, and among which mappings."""

    device: str
    capacity_bytes: Bytes | None = None
    """memory of the device as the paper has it; absent: the catalog's"""
    memory: str
    """optical HBM of the catalog"""
    l2_passes: float = Field(default=2.0, ge=1)
    """crossings of the cache by one byte, in the systems behind the L2"""
    num_devices: int = Field(ge=1)
    workloads: dict[str, TransformerTraining] = Field(min_length=1)
    """by the label that quantities carry; menus and kernels replace what they name"""
    menus: dict[str, dict[str, Any]] = Field(min_length=1)
    """fields of the workload by menu: choices among which the best is taken"""
    kernels: dict[str, Kernels] = Field(min_length=1)
    sweep: GainSweep

    @model_validator(mode="after")
    def _names_are_known(self) -> Self:
        for menu in (self.sweep.menu, self.sweep.beside):
            if menu not in self.menus:
                raise ValueError(f"sweep: menu '{menu}' is unknown; use one of {', '.join(self.menus)}")
        if self.sweep.kernels not in self.kernels:
            known = ", ".join(self.kernels)
            raise ValueError(f"sweep: kernels '{self.sweep.kernels}' are unknown; use one of {known}")
        for label, menu, kernels in product(self.workloads, self.menus, self.kernels):
            self.workload(label, menu, kernels)
        return self

    def workload(self, label: str, menu: str, kernels: str) -> TransformerTraining:
        """Training workload, its choices opened."""
        fields = self.workloads[label].model_dump(by_alias=False, exclude_unset=True)
        return TransformerTraining.model_validate(
            fields | self.menus[menu] | {"attention": self.kernels[kernels].attention}
        )


@dataclass(frozen=True)
class Dots:
    """Every valid mapping of one workload on one system and so many accelerators."""

    label: str
    system: str
    num_devices: int
    mfu: Floats
    """of each mapping with its best collectives, ascending, shape (D,)"""
    best_beside: float
    """the best under the other menu; NaN where nothing fits"""


def compute(inputs: Inputs) -> dict[str, float]:
    """MFU and gain by workload, menu, system and kernels; and whether the best mapping runs forward passes twice."""
    found: dict[str, float] = {}
    for kernels, label, menu in product(inputs.kernels, inputs.workloads, inputs.menus):
        best = dict(_best(inputs, label, menu, kernels))
        for system, option in best.items():
            name = f"{label}, {menu}, {system}, {kernels}"
            found[f"MFU {name}"] = option.mfu
            found[f"gain {name}"] = option.mfu / best[BASELINE].mfu
            found[f"recomputes all {name}"] = float(option.configuration.recompute == "full")
    return found | _comparisons(inputs, found)


def _comparisons(inputs: Inputs, found: dict[str, float]) -> dict[str, float]:
    """Gain of capacity over that of bandwidth, and of each workload over that of the first."""
    result: dict[str, float] = {}
    first = next(iter(inputs.workloads))
    for kernels, label, menu in product(inputs.kernels, inputs.workloads, inputs.menus):
        gain = {each: found[f"gain {label}, {menu}, {each}, {kernels}"] for each in (BANDWIDTH, CAPACITY, BOTH)}
        of_first = found[f"gain {first}, {menu}, {BOTH}, {kernels}"]
        name = f"{label}, {menu}, {kernels}"
        result[f"gain of capacity over gain of bandwidth, {name}"] = gain[CAPACITY] / gain[BANDWIDTH]
        result[f"gain over gain of {first}, {name}"] = gain[BOTH] / of_first
    return result


def dots(inputs: Inputs) -> Iterator[Dots]:
    """Values of the figure by workload, size and system."""
    sweep = inputs.sweep
    kernels = inputs.kernels[sweep.kernels]
    shown = {name: device for name, device in systems(inputs).items() if name in (BASELINE, BANDWIDTH, BOTH)}
    calibrations = _calibrations(inputs, kernels)
    for label in inputs.workloads:
        wide, beside = (inputs.workload(label, menu, sweep.kernels) for menu in (sweep.menu, sweep.beside))
        for size in sweep.sizes:
            fabric = fat_tree_of(system_of(inputs.device), size)
            for name, device in shown.items():
                ours = _each_mapping(wide, size, device, fabric, calibrations)
                other = _each_mapping(beside, size, device, fabric, calibrations)
                yield Dots(label, name, size, ours, float(other[-1]) if len(other) else np.nan)


def systems(inputs: Inputs) -> dict[str, Device]:
    """The device with each memory; all keep its name, so that one set of efficiencies holds for all."""
    device = load_device(inputs.device)
    if inputs.capacity_bytes is not None:
        device = device.model_copy(update={"capacity_bytes": inputs.capacity_bytes})
    tier = load_optical_hbm(inputs.memory).tier()
    slow = tier.model_copy(update={"bandwidth_bytes_per_s": device.memory_bytes_per_s})
    small = tier.model_copy(update={"capacity_bytes": device.capacity_bytes})
    cache = [cache_limit(device, passes=inputs.l2_passes)]
    return {
        BASELINE: device,
        BANDWIDTH: with_memory(device, small, name=device.name),
        CAPACITY: with_memory(device, slow, name=device.name),
        BOTH: with_memory(device, tier, name=device.name),
        BANDWIDTH + BEHIND_L2: with_memory(device, small, limits=cache, name=device.name),
        BOTH + BEHIND_L2: with_memory(device, tier, limits=cache, name=device.name),
    }


def _best(inputs: Inputs, label: str, menu: str, kernels: str) -> Iterator[tuple[str, Option]]:
    """The fastest mapping on each system; ValueError where none fits."""
    workload, chosen = inputs.workload(label, menu, kernels), inputs.kernels[kernels]
    fabric = fat_tree_of(system_of(inputs.device), inputs.num_devices)
    calibrations = _calibrations(inputs, chosen)
    for name, device in systems(inputs).items():
        found = search(workload, [inputs.num_devices], device, fabric, top=1, calibrations=calibrations)
        if not found.best:
            raise ValueError(f"num_devices: no mapping of {label} fits on {inputs.num_devices} of {name}; give more")
        yield name, found.best[0]


def _each_mapping(
    workload: TransformerTraining,
    size: int,
    device: Device,
    fabric: FabricBase,
    calibrations: tuple[Calibration, ...] | None,
) -> Floats:
    """MFU of each mapping that fits, with its best collectives, ascending."""
    found = [np.zeros(0)]
    for candidates, scores, _ in priced_batches(workload, [size], device, fabric, calibrations):
        best = np.zeros(len(candidates.mappings))
        np.maximum.at(best, candidates.mapping, mfu(candidates, scores, device))
        found.append(best[best > 0])
    return np.sort(np.concatenate(found))


def _calibrations(inputs: Inputs, kernels: Kernels) -> tuple[Calibration, ...] | None:
    """The efficiency that is given, in place of the catalog's."""
    if kernels.efficiency is None:
        return None
    numbers = kernels.efficiency.model_dump(exclude_none=True)
    variants: dict[str, Numbers] = {precision: dict(numbers) for precision in BYTES_OF_PRECISION}
    name = load_device(inputs.device).name
    return (Calibration(device=name, source="inputs of the experiment", families={"training": variants}),)

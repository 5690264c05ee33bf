"""The mapping of highest MFU for large transformers, by the memory of the device and the reach of fast links.

What the energies of tables 2 to 4 of the Photonic Fabric's paper rest on: it searches such mappings and prints neither
them nor what they are searched among.
"""

from collections.abc import Iterator
from itertools import product
from typing import Annotated, Any

from pydantic import Field

from costmodel.fabrics import fat_tree_of
from costmodel.hardware.device import Device, load_device
from costmodel.hardware.systems import system_of
from costmodel.pricing.search import Option, search
from costmodel.spec import Bytes, Spec
from planner.studies.reproduce.experiments.published_shapes import PublishedRun, Shape

Count = Annotated[int, Field(ge=1)]


class SearchedModel(Shape):
    """A shape, and how many accelerators train it."""

    accelerators: Count


class Inputs(Spec):
    """Shapes, systems and what is searched."""

    run: PublishedRun
    device: str
    capacities: dict[str, Bytes] = Field(min_length=1)
    """memory of the device, by system"""
    domains: tuple[Count, ...] = Field(min_length=1)
    """accelerators that fast links join, each tried"""
    menu: dict[str, Any]
    """fields of the workload that are searched"""
    models: tuple[SearchedModel, ...] = Field(min_length=1)


def compute(inputs: Inputs) -> dict[str, float]:
    """Degrees and MFU of the best mapping, by model, system and domain; absent where none fits."""
    found: dict[str, float] = {}
    for name, option in _best(inputs):
        mapping = option.configuration
        found |= {
            f"tensor degree of {name}": float(mapping.tensor),
            f"pipeline degree of {name}": float(mapping.pipeline),
            f"MFU of {name}": option.mfu,
        }
    return found


def _best(inputs: Inputs) -> Iterator[tuple[str, Option]]:
    device = load_device(inputs.device)
    for model, (label, capacity), domain in product(inputs.models, inputs.capacities.items(), inputs.domains):
        system = system_of(device.name).model_copy(update={"gpus_per_server": domain})
        fabric = fat_tree_of(system, model.accelerators)
        of_capacity: Device = device.model_copy(update={"capacity_bytes": capacity})
        ran = search(model.job(inputs.run, **inputs.menu), [model.accelerators], of_capacity, fabric, top=1)
        if ran.best:
            yield f"{model.name} {label}, domains of {domain}", ran.best[0]

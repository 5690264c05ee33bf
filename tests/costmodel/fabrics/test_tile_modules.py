"""Tiles with memory modules: what is listed is what plain tiles with fewer wavelengths and a second tier would have."""

from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError

from costmodel.fabrics import Fabric, Lightpath, priced
from costmodel.hardware.device import Device, load_device
from costmodel.hardware.memory.tier import load_memory_tier
from costmodel.pricing.candidates import enumerate_candidates
from costmodel.pricing.score import score
from costmodel.workloads import TransformerTraining
from tests.fabrics import FABRICS

CXL = load_memory_tier("cxl-ddr5")
SMALL = load_device("h100-sxm").model_copy(update={"name": "small", "capacity_bytes": 4e9})
JOB = TransformerTraining(
    model="bert-large", global_batch=16, sequence=128, micro_batch=1, offload=("none", "weights+activations+optimizer")
)
Row = tuple[str, float, float]
"""a configuration, its step and its energy"""


def lightpath(**changes: Any) -> Lightpath:
    found = TypeAdapter(Fabric).validate_python(FABRICS["lightpath"] | changes)
    assert isinstance(found, Lightpath)
    return found


def rows(fabric: Lightpath, device: Device, *, has_tier: bool) -> set[Row]:
    """Those that offload, or those that do not."""
    found = enumerate_candidates(JOB, (4,), device, fabric)
    scores = score(found, device, fabric)
    some = np.flatnonzero((found.mappings.offload[found.mapping] > 0) == has_tier)
    return {
        (
            found.configuration(row).model_dump_json(exclude={"memory_units", "memory_io"}),
            float(f"{scores.step_s[row]:.9g}"),
            float(f"{scores.energy_j[row]:.9g}"),
        )
        for row in some.tolist()
    }


def test_every_split_lists_what_tiles_with_fewer_wavelengths_do() -> None:
    wide = FABRICS["lightpath"]["wavelengths_per_tile"]
    fabric = lightpath(memory={"unit": "cxl-ddr5", "units": 2, "wavelengths": 3})
    wanted = rows(lightpath(), SMALL, has_tier=False)
    for units in (1, 2):
        rate = min(units * 63e9, 3 * units * fabric.wavelength_bandwidth_bytes_per_s)
        changed = {
            "name": f"cxl-ddr5 x {units}",
            "capacity_bytes": units * 512e9,
            "bandwidth_bytes_per_s": rate,
            "energy_j_per_byte": CXL.energy_j_per_byte + fabric.energy_j_per_byte,
        }
        tiered = SMALL.model_copy(update={"offload": CXL.model_copy(update=changed)})
        wanted |= rows(lightpath(wavelengths_per_tile=wide - 3 * units), tiered, has_tier=True)
    assert rows(fabric, SMALL, has_tier=False) | rows(fabric, SMALL, has_tier=True) == wanted
    held = {(split.memory_units, split.memory_io) for split in fabric.splits(SMALL)}
    assert held == {(None, None), (1, 3), (2, 6)}


def test_a_pool_lists_what_leaves_a_wavelength_and_is_counted_by_server() -> None:
    """Of 8 wavelengths two modules take 6, three would take more than there are."""
    memory = {"unit": "cxl-ddr5", "wavelengths": 3}
    pool, own = lightpath(memory=memory | {"units": 9, "shared": True}), lightpath(memory=memory | {"units": 2})
    assert (pool.shared, own.shared) == ((9,), None)
    offloading, alike = ([(s.device, s.memory_units, s.memory_io) for s in each.splits(SMALL)] for each in (pool, own))
    assert offloading == alike
    assert pool.inventory()["memory module"].parse("s1.m8") == (1, 8)
    assert priced(pool.inventory())["memory_unit"] == 9 * pool.num_servers


def test_modules_are_parts_and_lasers_are_not_told_apart() -> None:
    plain, more = lightpath(), lightpath(memory={"unit": "cxl-ddr5", "units": 2, "wavelengths": 3})
    parts = more.inventory()
    assert parts["memory module"].parse("s1.t2.m1") == (1, 2, 1)
    assert priced(parts)["memory_unit"] == parts["memory module"].count == 2 * more.num_devices
    assert {"laser", "receiver"} <= plain.inventory().keys()
    assert not {"laser", "receiver"} & parts.keys()


@pytest.mark.parametrize(
    ("memory", "message"),
    [
        (
            {"unit": "cxl-ddr5", "units": 4, "wavelengths": 4},
            "4 modules of 4 wavelengths leave none of the 8 .* most 1",
        ),
        (
            {"unit": "cxl-ddr5", "units": 9, "wavelengths": 8, "shared": True},
            "one module takes 8 of the 8 wavelengths of a tile and leaves none .*; give fewer",
        ),
        ({"unit": "cxl-ddr5", "units": 1, "wavelengths": 0}, "wavelengths"),
        ({"unit": "cxl-ddr5", "units": 1}, "wavelengths"),
        ({"unit": "cxl", "units": 1, "wavelengths": 1}, "unknown memory tier"),
    ],
)
def test_bad_modules_are_named(memory: dict[str, Any], message: str) -> None:
    with pytest.raises((ValidationError, ValueError), match=message):
        lightpath(memory=memory)

"""Parts of the catalog that memory is made of."""

import json

import pytest
from pydantic import ValidationError

from costmodel.catalog import documents
from costmodel.hardware.memory.tier import MemoryTier, load_memory_tier
from costmodel.hardware.optical_hbm import OpticalHbm, load_optical_hbm
from costmodel.hardware.parts import SourcedPart, part_names
from costmodel.hardware.photonic_appliance import MemoryAppliance, load_memory_appliance
from costmodel.memory_pool.parts import (
    MemoryTray,
    MemoryUnit,
    PhotonicIO,
    Shoreline,
    load_memory_tray,
    load_memory_unit,
    load_photonic_io,
    load_shoreline,
)

LOADERS = {
    "memory_tier": load_memory_tier,
    "optical_hbm": load_optical_hbm,
    "memory_appliance": load_memory_appliance,
    "memory_tray": load_memory_tray,
    "memory_unit": load_memory_unit,
    "photonic_io": load_photonic_io,
    "shoreline": load_shoreline,
}
PARTS = [(kind, name) for kind in LOADERS for name in part_names(kind)]


@pytest.mark.parametrize(("kind", "name"), PARTS)
def test_each_number_has_a_source(kind: str, name: str) -> None:
    part: SourcedPart = LOADERS[kind](name)
    assert part.name == name
    assert set(part.sources) == set(documents()[name]) - {"kind", "name", "source", "sources"}
    assert all(len(text) > 8 for text in part.sources.values())


@pytest.mark.parametrize(("kind", "name"), PARTS)
def test_parts_survive_a_file(kind: str, name: str) -> None:
    part: SourcedPart = LOADERS[kind](name)
    assert type(part).model_validate(json.loads(part.model_dump_json())) == part


def test_kinds() -> None:
    assert part_names("optical_hbm") == ("optical-hbm-a100",)
    assert {type(load(name)) for kind, load in LOADERS.items() for name in part_names(kind)} == {
        MemoryTier,
        OpticalHbm,
        MemoryAppliance,
        MemoryTray,
        MemoryUnit,
        PhotonicIO,
        Shoreline,
    }


def test_a_source_of_no_number() -> None:
    content = documents()["host-pcie4"] | {"sources": {"bandwith": "typing"}}
    with pytest.raises(ValidationError, match="has no number bandwith; use its keys"):
        MemoryTier.model_validate(content)

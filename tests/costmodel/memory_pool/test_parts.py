"""Parts of the published pool."""

import pytest
from pydantic import ValidationError

from costmodel.memory_pool.parts import MemoryTray, load_memory_tray, load_memory_unit
from tests.costmodel.memory_pool.pool_cases import SHORELINE, made_shoreline, pool


def test_modules_along_the_edge() -> None:
    assert SHORELINE.num_io == 12
    assert SHORELINE.bandwidth_bytes_per_s == 24e12
    assert [made_shoreline(perimeter_mm=mm).num_io for mm in (95.9, 96, 103.9, 104, 8)] == [11, 12, 12, 13, 1]
    assert made_shoreline(modules=7).num_io == 7


def test_more_modules_than_the_edge_takes() -> None:
    with pytest.raises(ValidationError, match=r"modules: 13 of 8 mm are wider than .* 96 mm; give at most 12"):
        made_shoreline(modules=13)
    with pytest.raises(ValidationError, match=r"perimeter_mm: 7 mm take no module of 8 mm; give at least 8"):
        made_shoreline(perimeter_mm=7)


def test_more_modules_than_any_edge_takes() -> None:
    with pytest.raises(ValidationError, match=r"1e\+09 mm take more than 4096 modules of 8 mm; give less"):
        made_shoreline(perimeter_mm=1e9)
    assert made_shoreline(perimeter_mm=1e9, modules=7).num_io == 7


def test_a_unit_faster_than_an_io() -> None:
    parts = "2 of 8 GB and 300 GB/s for one"
    with pytest.raises(ValidationError, match=rf"an I/O carries 333.3 GB/s; take .* {parts}, .* or set spread: true"):
        pool(4e12)
    assert pool(4e12, spread=True).most_units == 6
    assert pool(12 * 600e9).most_units == 12


def test_a_unit_behind_light() -> None:
    unit = load_memory_unit("memory-unit")
    assert unit.tier().latency_s == pytest.approx(unit.stack.latency_s + 60e-9)
    assert (unit.tier().capacity_bytes, unit.tier().bandwidth_bytes_per_s) == (16e9, 600e9)


def test_a_tray() -> None:
    tray = load_memory_tray("memory-tray")
    assert tray.units_per_port == 3
    assert (tray.capacity_bytes, tray.bandwidth_bytes_per_s) == (256e9, 9.6e12)
    fields = tray.model_dump()
    with pytest.raises(ValidationError, match="5 ports of 3 units each carry fewer than 16; give at most 15 units"):
        MemoryTray.model_validate(fields | {"ports": 5})
    slow = fields["port"] | {"bandwidth": 500e9}
    with pytest.raises(ValidationError, match="gives 600 GB/s, a port carries 500 GB/s"):
        MemoryTray.model_validate(fields | {"port": slow})

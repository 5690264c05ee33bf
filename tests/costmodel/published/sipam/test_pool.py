"""Shorelines, trays and pools: counts by hand, exact fractions, and what is refused."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from costmodel.published.sipam.parts import MemoryTray, Shoreline, load_memory_tray, load_memory_unit, load_shoreline
from costmodel.published.sipam.pool import MemoryPool

SHORELINE = load_shoreline("photonic-shoreline")
UNIT_RATE = 600 * 10**9


def pool(total_bytes_per_s: float | None = None, **fields: Any) -> MemoryPool:
    """That of the catalog, or one whose I/Os carry so much together."""
    shoreline = SHORELINE if total_bytes_per_s is None else SHORELINE.with_bandwidth(total_bytes_per_s)
    return MemoryPool.model_validate({"shoreline": shoreline, "unit": "memory-unit"} | fields)


def test_modules_along_the_edge() -> None:
    assert SHORELINE.num_io == 12
    assert SHORELINE.bandwidth_bytes_per_s == 24e12
    assert [_shoreline(perimeter_mm=mm).num_io for mm in (95.9, 96, 103.9, 104, 8)] == [11, 12, 12, 13, 1]
    assert _shoreline(modules=7).num_io == 7


def _shoreline(**fields: Any) -> Shoreline:
    return Shoreline.model_validate(SHORELINE.model_dump() | fields)


def test_more_modules_than_the_edge_takes() -> None:
    with pytest.raises(ValidationError, match=r"modules: 13 of 8 mm are wider than .* 96 mm; give at most 12"):
        _shoreline(modules=13)
    with pytest.raises(ValidationError, match=r"perimeter_mm: 7 mm take no module of 8 mm; give at least 8"):
        _shoreline(perimeter_mm=7)


def test_a_unit_faster_than_an_io() -> None:
    with pytest.raises(ValidationError, match=r"an I/O carries 333.3 GB/s; take .* or set spread: true"):
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


def test_splits_of_the_published_pool() -> None:
    own, normalized = pool().choices(), pool(4e12, spread=True).choices()
    assert len(own) == 40
    assert own.memory_io[[0, 2, 3, 8, 9, 39]].tolist() == [1, 1, 2, 3, 3, 12]
    assert own.network_io[-1] == 0
    assert own.bytes_per_s[-1] == 24e12
    assert own.capacity_bytes[-1] == 640e9
    assert normalized.memory_io.tolist() == [2, 4, 6, 8, 9, 11]
    assert normalized.bytes_per_s[-1] / 3000e9 == pytest.approx(1.2, rel=1e-12)
    np.testing.assert_array_equal(own.memory_io + own.network_io, 12)


def test_io_kept_for_the_network() -> None:
    assert pool(network_io=2).most_units == 33
    assert (pool(network_io=2).choices().network_io >= 2).all()
    with pytest.raises(ValidationError, match=r"network_io: of 12 I/Os, 12 kept for the network .* keep at most 11"):
        pool(network_io=12)
    with pytest.raises(ValueError, match=r"units: \[41\]; the I/Os carry 1 to 40"):
        pool().choices([41])


@given(total=st.integers(1, 400), num_io=st.integers(1, 64), rate=st.integers(1, 10**6))
def test_equations_against_exact_fractions(total: int, num_io: int, rate: int) -> None:
    """Where I/Os carry total x 100 GB/s; quotients that are whole stay whole."""
    shoreline = _shoreline(perimeter_mm=8.0 * num_io).with_bandwidth(total * 1e11)
    each = Fraction(total * 10**11, num_io)
    most = total * 10**11 // UNIT_RATE
    if most < 1:
        with pytest.raises(ValidationError):
            pool(spread=True, shoreline=shoreline)
        return
    found = pool(spread=True, shoreline=shoreline)
    assert found.most_units == most
    units = found.units_for(rate * 1e8)
    assert units == min(max(-(-rate * 10**8 // UNIT_RATE), 1), most)
    choices = found.choices()
    assert choices.memory_io.tolist() == [math.ceil(n * UNIT_RATE / each) for n in range(1, most + 1)]
    assert (choices.bytes_per_s <= choices.memory_io * float(each) * (1 + 1e-9)).all()

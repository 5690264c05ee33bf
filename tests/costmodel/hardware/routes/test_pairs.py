"""Pairs of a group and the routes between them."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costmodel.hardware.routes import (
    load_route_parts,
    mean_pair_j_per_byte,
    packed,
    pair_counts,
)
from tests.costmodel.hardware.routes.placed import PICOJOULE_PER_BIT, SETS


def every_pair(places: list[tuple[int, int]]) -> tuple[int, int, int]:
    """Pairs in a tray, in a rack and between racks, of accelerators at (rack, tray), one by one."""
    tray = rack = inter = 0
    for (one_rack, one_tray), (other_rack, other_tray) in combinations(places, 2):
        if (one_rack, one_tray) == (other_rack, other_tray):
            tray += 1
        elif one_rack == other_rack:
            rack += 1
        else:
            inter += 1
    return tray, rack, inter


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), min_size=1, max_size=9))
def test_pairs_are_those_that_are_counted_one_by_one(trays: list[tuple[int, int]]) -> None:
    """Any number of accelerators on any trays of any racks."""
    counts = pair_counts([count for count, _ in trays], [rack for _, rack in trays])
    places = [(rack, tray) for tray, (count, rack) in enumerate(trays) for _ in range(count)]
    found = int(counts.tray[0]), int(counts.rack[0]), int(counts.inter_rack[0])
    assert found == every_pair(places)


@pytest.mark.slow
@given(st.integers(1, 150), st.integers(1, 9), st.integers(1, 5))
def test_packed_groups_fill_tray_after_tray(size: int, per_tray: int, trays: int) -> None:
    counts = pair_counts(*packed(size, per_tray, per_tray * trays))
    places = [(number // (per_tray * trays), number // per_tray) for number in range(size)]
    assert (int(counts.tray[0]), int(counts.rack[0]), int(counts.inter_rack[0])) == every_pair(places)


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("size", [8, 16, 24, 32, 56, 64, 128, 192, 256, 512])
def test_closed_form_of_full_trays_and_racks(name: str, size: int) -> None:
    tray, rack, inter = (SETS[name][scenario] for scenario in ("tray", "rack", "inter_rack"))
    expected = (7 * tray + (min(size, 64) - 8) * rack + max(0, size - 64) * inter) / (size - 1)
    mean = mean_pair_j_per_byte(load_route_parts(name), pair_counts(*packed(size, 8, 64)))
    assert mean / PICOJOULE_PER_BIT == pytest.approx([expected])


def test_means_of_many_groups_at_once() -> None:
    """pJ/bit of 16, 32, 64, 128 and 256 packed accelerators."""
    counts = pair_counts(*packed(np.array([16, 32, 64, 128, 256]), 8, 64))
    for name, expected in {
        "routes-electrical": [111.33, 139.03, 152.22, 193.94, 214.55],
        "routes-photonic-text": [23.33, 29.35, 32.22, 58.82, 71.96],
    }.items():
        mean = mean_pair_j_per_byte(load_route_parts(name), counts) / PICOJOULE_PER_BIT
        assert mean == pytest.approx(expected, abs=0.006)


def test_a_scattered_group_costs_more_than_a_packed_one() -> None:
    parts, racks = load_route_parts("routes-electrical"), [0, 0, 1, 1]
    means = [
        mean_pair_j_per_byte(parts, pair_counts(row, racks))[0] for row in ([8, 0, 0, 0], [4, 4, 0, 0], [4, 0, 4, 0])
    ]
    assert means == sorted(means)
    assert mean_pair_j_per_byte(parts, pair_counts([1, 0, 0, 0], racks)) == pytest.approx([0.0])


def test_bad_placements_are_refused() -> None:
    with pytest.raises(ValueError, match="rack_of_tray: has shape"):
        pair_counts([8, 8], [0])
    with pytest.raises(ValueError, match="negative"):
        pair_counts([-1, 8], [0, 0])
    with pytest.raises(ValueError, match="per_rack: 12 is no multiple of 8"):
        packed(16, 8, 12)

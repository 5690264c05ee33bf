"""The optical memory system, from its description to the published numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from costmodel.hardware.optical_hbm import OpticalHbm, load_optical_hbm

PART = load_optical_hbm("optical-hbm-a100")


def changed(**fields: object) -> OpticalHbm:
    return OpticalHbm.model_validate(PART.model_dump() | fields)


def test_published_arithmetic() -> None:
    assert PART.channels_per_pair == 48 / 3
    assert PART.channel.bytes_per_s == 64 * 16e9 / 8 == 128e9
    assert PART.interface.module_bytes_per_s == 128e9
    assert PART.optical_bytes_per_s == PART.interface.bytes_per_s == 16 * 128e9
    assert PART.pair_edge_m == pytest.approx(6.096e-3)
    assert PART.module_bytes == 96e9
    tier = PART.tier()
    assert tier.capacity_bytes == 576e9
    assert tier.bandwidth_bytes_per_s == 6 * 16 * 128e9 == 12 * 1024e9
    assert tier.latency_s == pytest.approx(PART.stack.latency_s + 60e-9)


def test_the_slowest_of_light_links_and_stacks_decides() -> None:
    assert PART.pair_bytes_per_s == PART.optical_bytes_per_s
    few_stacks = changed(stacks_per_module=2)
    assert few_stacks.pair_bytes_per_s == pytest.approx(2 * 407.8e9)
    narrow = changed(interface=PART.interface.model_dump() | {"phys": 2})
    assert narrow.pair_bytes_per_s == 8 * 128e9
    dim = changed(channel=PART.channel.model_dump() | {"wavelengths": 16})
    assert dim.pair_bytes_per_s == PART.pair_bytes_per_s / 4


@given(pairs=st.integers(1, 17), wavelengths=st.integers(1, 128), stacks=st.integers(1, 12))
def test_more_never_hurts(pairs: int, wavelengths: int, stacks: int) -> None:
    def bandwidth(pairs: int, wavelengths: int, stacks: int) -> float:
        channel = PART.channel.model_dump() | {"wavelengths": wavelengths}
        return changed(pairs=pairs, channel=channel, stacks_per_module=stacks).tier().bandwidth_bytes_per_s

    base = bandwidth(pairs, wavelengths, stacks)
    assert bandwidth(pairs + 1, wavelengths, stacks) == pytest.approx(base * (pairs + 1) / pairs)
    assert bandwidth(pairs, wavelengths + 1, stacks) >= base
    assert bandwidth(pairs, wavelengths, stacks + 1) >= base


def test_fibers_must_fill_channels() -> None:
    with pytest.raises(ValidationError, match="47 is no multiple of the 3 of a channel"):
        changed(fibers_per_pair=47)


def test_pairs_fit_around_the_chip() -> None:
    """48 fibers of 127 um are 6.096 mm wide: 18 pairs take 109.7 of 115 mm, 19 do not; seven fill seven times it."""
    assert changed(pairs=18).room == PART.room == 18
    with pytest.raises(ValidationError, match=r"pairs: 19 of 6\.1 mm of fibers are wider than .* 115; give at most 18"):
        changed(pairs=19)
    assert changed(pairs=40, perimeter_mm=None).room == 40
    assert changed(pairs=7, perimeter_mm=7 * 6.096).room == 7
    with pytest.raises(ValidationError, match=r"give fewer fibers_per_pair"):
        changed(pairs=1, perimeter_mm=6)

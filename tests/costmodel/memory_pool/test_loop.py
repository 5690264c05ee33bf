"""The method of SiPAM against plain numbers, and each way in which it stops."""

from fractions import Fraction

import pytest

from costmodel.memory_pool.loop import allocate
from tests.costmodel.memory_pool.loop_cases import POOLS, Scripted
from tests.oracles.sipam import MODELS, loop
from tests.planner.studies.reproduce.experiments.counted_step_cases import PHASES, step

PEAK = 1e15


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("io", POOLS)
def test_rounds_against_plain_numbers(model: str, phase: str, io: Fraction) -> None:
    found = allocate(step(model, phase), PEAK, POOLS[io])
    ours = [(r.units, r.memory_io, r.asked, r.accelerators) for r in found.rounds]
    expected = loop(model, phase, io)
    assert ours == [row[:4] for row in expected]
    assert [r.next_flops_per_byte for r in found.rounds] == pytest.approx([row[4] for row in expected])


def test_the_smallest_model_by_hand() -> None:
    """Inference of 126M: 41.7 FLOP/B ask for 23.97 TB/s, so 40 units, all 12 I/Os and one accelerator."""
    result = allocate(step("126M", "inference"), PEAK, POOLS[Fraction(2 * 10**12)]).result
    assert result.required_bytes_per_s == pytest.approx(23.97e12, rel=1e-3)
    assert (result.units, result.memory_io, result.network_io, result.accelerators) == (40, 12, 0, 1)
    assert result.fits
    assert not result.is_short


def test_a_bandwidth_that_the_io_do_not_carry() -> None:
    result = allocate(step("126M", "training"), PEAK, POOLS[Fraction(4 * 10**12, 12)]).result
    assert (result.units, result.memory_io, result.network_io) == (6, 11, 1)
    assert result.is_short


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("phase", PHASES)
def test_a_fixed_point_repeats_itself(model: str, phase: str) -> None:
    found = allocate(step(model, phase), PEAK, POOLS[Fraction(2 * 10**12)])
    last = found.rounds[-1]
    if found.stop == "fixed point":
        assert found.result == last
        assert last.fits
        assert (last.next_flops_per_byte, last.next_workload_bytes) == (last.flops_per_byte, last.workload_bytes)
        assert "started from" in found.reason
    else:
        assert (model, phase, found.stop) == ("530B", "inference", "oscillation")


def test_oscillation() -> None:
    """17 units hold 272 GB: one accelerator lacks room for 300, and 2 x 130 ask for one again."""
    found = allocate(Scripted({1: 300.0, 2: 130.0}), PEAK, POOLS[Fraction(2 * 10**12)])
    assert (found.stop, found.period) == ("oscillation", 2)
    assert [(r.units, r.asked, r.accelerators, r.fits) for r in found.rounds] == [(17, 2, 2, True), (17, 1, 1, False)]
    assert found.result == found.rounds[0]
    assert found.reason == "the last 2 rounds repeat"


def test_round_limit() -> None:
    found = allocate(step("13B", "training"), PEAK, POOLS[Fraction(2 * 10**12)], max_rounds=2)
    assert (found.stop, len(found.rounds)) == ("round limit", 2)
    assert found.reason == "2 rounds without a fixed point"


def test_accelerator_limit() -> None:
    found = allocate(step("1T", "training"), PEAK, POOLS[Fraction(2 * 10**12)], max_accelerators=1000)
    assert found.stop == "accelerator limit"
    assert found.result.accelerators == 0
    assert not found.result.fits
    assert "accelerators are asked for" in found.reason
    with pytest.raises(ValueError, match="max_accelerators: the workload divides over no number up to 2"):
        allocate(Scripted({3: 1.0}), PEAK, POOLS[Fraction(2 * 10**12)], max_accelerators=2)


def test_what_changed() -> None:
    rounds = allocate(step("5B", "training"), PEAK, POOLS[Fraction(2 * 10**12)]).rounds
    assert rounds[0].changed == ()
    assert rounds[-1].changed == ()
    rounds = allocate(step("13B", "training"), PEAK, POOLS[Fraction(2 * 10**12)]).rounds
    assert rounds[1].changed == ("asked", "accelerators", "mapping")
    assert rounds[2].changed == ("units", "asked", "accelerators", "mapping")

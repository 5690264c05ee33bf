"""Laws of carrying numbers from one device to another, with no table at hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costmodel.hardware.device import Device, load_device
from costmodel.kernels import attention_generation, collective, gemm
from costmodel.kernels.attention_generation import decode_attention_s
from costmodel.kernels.collective import OPERATIONS, node_collective_s
from costmodel.kernels.gemm import gemm_s
from costmodel.pricing.scaling import scaled

H100, A100 = load_device("h100"), load_device("a100")
FAMILIES = (gemm.SCALINGS, collective.SCALINGS, attention_generation.SCALINGS)


def faster(device: Device, factor: float) -> Device:
    """A device of which nothing was fitted, `factor` times as fast in every peak."""
    return device.model_copy(
        update={
            "name": "faster",
            "like": device.name,
            "clock_hz": factor * device.clock_hz,
            "link_bytes_per_s": factor * device.link_bytes_per_s,
            "memory_bytes_per_s": factor * device.memory_bytes_per_s,
            "flops_per_s": {name: factor * rate for name, rate in device.flops_per_s.items()},
        }
    )


@pytest.mark.parametrize("scalings", FAMILIES)
def test_there_and_back_is_where_it_began(scalings: dict[str, object]) -> None:
    numbers = {name: 1.0 + place for place, name in enumerate(scalings)} | {"a_share": 0.5}
    there = scaled(numbers, scalings, H100, A100)
    assert scaled(numbers, scalings, H100, H100) == numbers
    assert all(there[name] != numbers[name] for name in scalings)
    assert scaled(there, scalings, A100, H100) == pytest.approx(numbers)


@given(factor=st.floats(1.1, 8.0), m=st.integers(1, 5000), n=st.integers(1, 9000), k=st.integers(1, 9000))
def test_twice_as_fast_in_all_peaks_takes_half_the_time(factor: float, m: int, n: int, k: int) -> None:
    quick = faster(H100, factor)
    for precision in ("bf16", "fp8"):
        assert gemm_s(m, n, k, quick, precision) * factor == pytest.approx(gemm_s(m, n, k, H100, precision))
    for name in OPERATIONS:
        slow_s = node_collective_s(name, 8, float(m * n), H100)
        assert node_collective_s(name, 8, float(m * n), quick) * factor == pytest.approx(slow_s)


@given(factor=st.floats(1.1, 8.0), batch=st.integers(1, 256), context=st.integers(1, 50000), kv=st.integers(1, 8))
def test_decode_follows_the_peaks(factor: float, batch: int, context: int, kv: int) -> None:
    quick = faster(H100, factor)

    def seconds(device: Device) -> float:
        shape = (batch, context, 8 * kv, kv, 128)
        return float(decode_attention_s(*shape, device, precision="bf16", kv_precision="bf16"))

    assert seconds(quick) * factor == pytest.approx(seconds(H100))


def test_the_same_processor_streams_as_it_did_beside_a_wider_memory() -> None:
    h200 = load_device("h200")
    numbers = {"masked_token_s": 1e-8, "launch_s": 3e-6}
    assert scaled(numbers, attention_generation.SCALINGS, H100, h200) == numbers
    b200 = scaled(numbers, attention_generation.SCALINGS, H100, load_device("b200"))
    assert b200["masked_token_s"] == pytest.approx(1e-8 * (3350 / 132) / (8000 / 148))


def test_clocks_of_the_catalog_give_its_peaks() -> None:
    """A processor does a power of two of operations a cycle."""
    for name in ("a100", "h100", "h200", "b200"):
        device = load_device(name)
        per_cycle = device.flops_per_s["bf16"] / device.num_sm / device.clock_hz
        assert np.log2(per_cycle) == pytest.approx(round(np.log2(per_cycle)), abs=0.01)

"""Kernels and copies on a timeline."""

import pytest

from costmodel.dataflow.streams.timeline import Timeline
from tests.oracles.mcdla import product_ns


def test_copies_take_as_long_as_the_bytes_say(ran: dict[tuple[str, str, str], Timeline]) -> None:
    """VGG-E by data: 64 images of 59.4 MB there and back, at 8, 75, 50, 75 and 150 GB/s."""
    moved = 2 * 64 * 59_445_152
    rates = {"DC-DLA": 8, "HC-DLA": 75, "MC-DLA(S)": 50, "MC-DLA(L)": 75, "MC-DLA(B)": 150}
    for system, gigabytes_per_s in rates.items():
        for parallel in ("data", "model"):
            assert ran["VGG-E", parallel, system].copy_s == pytest.approx(moved / gigabytes_per_s * 1e-9)
    assert ran["VGG-E", "data", "oracle"].copy_s == 0


def test_kernels_of_a_recurrent_layer(ran: dict[tuple[str, str, str], Timeline]) -> None:
    """RNN-GEMV by data, 50 steps of 64 samples: product and activation; then backward of both, made again but once."""
    h, size = 1760, 4
    state, weights = 64 * h * size, h * h * size
    forward = product_ns(64, h, h, 1, state, weights, state)
    of_weights = product_ns(h, h, 64, 1, state, state, weights)
    passes = [50 * (state * 2 / 900 + 100), 49 * (state * 2 / 900 + 100), 50 * (state * 3 / 900 + 100)]
    expected = 50 * forward + 49 * forward + 50 * of_weights + sum(passes)
    assert ran["RNN-GEMV", "data", "oracle"].compute_s * 1e9 == pytest.approx(expected)

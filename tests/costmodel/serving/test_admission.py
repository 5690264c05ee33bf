"""Memory of the ranks, by hand."""

import pytest

from costmodel.hardware.device import load_device
from costmodel.serving.admission import cache_tokens, does_not_fit, memory_slots, weight_bytes
from costmodel.serving.backends import ServingCurve
from costmodel.serving.step import Precisions
from costmodel.workloads.transformer.shapes import load_model

H100 = load_device("h100")
QWEN = load_model("qwen3-32b")
BF16, FP8 = Precisions("bf16", "bf16", "bf16"), Precisions("fp8", "fp8", "fp8")
CURVE = ServingCurve(reserved_share=0.5, runtime_bytes=2e9)


def test_weights_of_qwen3_32b() -> None:
    """32.76 billion parameters, of which twice 151936 x 5120 stay in bf16."""
    assert weight_bytes(QWEN, 1, BF16) == pytest.approx(2 * 32.76e9, rel=2e-3)
    assert weight_bytes(QWEN, 2, BF16) == pytest.approx(32.76e9, rel=2e-3)
    assert weight_bytes(QWEN, 1, FP8) == pytest.approx(32.76e9 + 2 * 151936 * 5120, rel=2e-3)


def test_tokens_that_fit() -> None:
    """0.9 x 80 GiB less weights and 2 GB, at 64 layers x 2 x 8 heads x 128 x 2 bytes a token."""
    free = 0.9 * 80 * 2**30 - weight_bytes(QWEN, 1, BF16) - 2e9
    assert cache_tokens(QWEN, H100, 1, BF16, CURVE) == pytest.approx(free / 262144)


def test_requests_that_fit_reserve_a_share_of_their_answers() -> None:
    assert memory_slots(12_000, 1000, 1000, CURVE) == 8
    assert memory_slots(12_000, 1000, 1000, CURVE.model_copy(update={"reserved_share": 1.0})) == 6
    assert memory_slots(2000, 1000, 1000, CURVE) == 1
    assert memory_slots(1999, 1000, 1000, CURVE) == 0
    assert memory_slots(-5.0, 1000, 1000, CURVE) == 0


def test_what_does_not_fit_says_by_how_much_and_what_helps() -> None:
    llama = load_model("llama-3.1-70b")
    text = does_not_fit(llama, H100, 1, BF16, CURVE, 2048)
    missing = weight_bytes(llama, 1, BF16) + 2e9 + 2048 * 80 * 2 * 8 * 128 * 2 - 0.9 * 80 * 2**30
    assert f"{missing / 1e9:.1f} GB" in text
    for remedy in ("tensor ranks", "fp8 weights", "fp8 KV cache"):
        assert remedy in text
    assert "fp8" not in does_not_fit(llama, H100, 1, FP8, CURVE, 2048).split("would help")[0].split(";")[1]

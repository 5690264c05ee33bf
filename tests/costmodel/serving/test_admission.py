"""Requests that memory holds at once, by hand."""

from costmodel.serving.admission import memory_slots
from costmodel.serving.backends import ServingCurve

CURVE = ServingCurve(reserved_share=0.5, runtime_bytes=2e9)
TOKEN_BYTES = 1e5


def slots(tokens: float, curve: ServingCurve = CURVE) -> float:
    return float(memory_slots(tokens * TOKEN_BYTES, TOKEN_BYTES, 1000, 1000, curve))


def test_requests_that_fit_reserve_a_share_of_their_answers() -> None:
    assert slots(12_000) == 8
    assert slots(12_000, CURVE.model_copy(update={"reserved_share": 1.0})) == 6
    assert slots(2000) == 1
    assert slots(1999) == 0
    assert slots(-5.0) == 0

"""Guessed tokens: how many a step gives, and what drafts are refused."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from costmodel.workloads.transformer.shapes import load_model
from costmodel.workloads.transformer.speculation import Speculation


@given(st.integers(1, 64), st.floats(0, 0.999))
def test_tokens_per_step_are_the_published_sum(tokens: int, acceptance: float) -> None:
    """Leviathan et al. 2022, equation 1."""
    found = Speculation(tokens=tokens, acceptance=acceptance).tokens_per_step
    assert found == pytest.approx((1 - acceptance ** (tokens + 1)) / (1 - acceptance))


def test_tokens_that_are_always_right_all_count() -> None:
    assert Speculation(tokens=5, acceptance=1).tokens_per_step == 6
    assert Speculation(tokens=5, acceptance=0).tokens_per_step == 1


def test_layers_of_a_draft() -> None:
    shape = load_model("llama-3.1-70b")
    assert Speculation(tokens=1, acceptance=0.8, draft_cost=0.0125).draft_layers(shape) == 1
    assert Speculation(tokens=1, acceptance=0.8, draft_model="llama-3.1-8b").draft_layers(shape) == 32


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"acceptance": 1.2}, "less than or equal to 1"),
        ({"tokens": 0}, "greater than or equal to 1"),
        ({"draft_cost": 0.1, "draft_model": "llama-3.1-8b"}, "say the same"),
        ({"draft_model": "llama-8"}, "unknown model 'llama-8'"),
    ],
)
def test_bad_drafts_are_told(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Speculation.model_validate({"tokens": 4, "acceptance": 0.8} | fields)

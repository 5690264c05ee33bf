"""Whole requests: against a loop over tokens, and the largest batch against its definition."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costmodel.serving.static import Engine, KernelRules, largest_batch, pass_s, serve
from costmodel.workloads.transformer.shapes import load_model

SHAPE = load_model("llama-3.1-8b")
RULES = KernelRules(memory_efficiency=0.9, memory_ramp_bytes=1e6, memory_reserve=0.05)


def engine(**fields: object) -> Engine:
    base = {"flops_per_s": 300e12, "memory_bytes_per_s": 2e12, "capacity_bytes": 80e9, "stage_link_bytes_per_s": 50e9}
    return Engine.model_validate(base | fields)


@settings(max_examples=25)
@given(
    batch=st.integers(1, 20), stages=st.sampled_from([1, 2, 4]), tokens_in=st.integers(1, 300),
    tokens_out=st.integers(1, 40),
)  # fmt: skip
def test_against_a_loop_over_tokens(batch: int, stages: int, tokens_in: int, tokens_out: int) -> None:
    used = engine(pipeline=stages)
    found = serve(SHAPE, used, RULES, batch, tokens_in, tokens_out)
    parts = min(batch, stages)
    prefill = (parts + stages - 1) * float(pass_s(SHAPE, used, RULES, batch / parts, tokens_in, 0)) / stages
    decode = sum(
        max(parts, stages) * float(pass_s(SHAPE, used, RULES, batch / parts, 1, tokens_in + k)) / stages
        for k in range(tokens_out)
    )
    assert found.prefill_s[0] == pytest.approx(prefill)
    assert found.decode_s[0] == pytest.approx(decode)
    assert found.output_tokens_per_s[0] == pytest.approx(batch * tokens_out / (prefill + decode))
    work = 2 * SHAPE.num_parameters * batch * (tokens_in + tokens_out)
    assert found.mfu[0] == pytest.approx(work / (prefill + decode) / stages / 300e12)


def test_columns_do_not_mix() -> None:
    batch, tokens_in, tokens_out = np.array([1, 4, 16]), np.array([10, 100, 1000]), np.array([5, 1, 50])
    together = serve(SHAPE, engine(), RULES, batch, tokens_in, tokens_out).latency_s
    rows = zip(batch, tokens_in, tokens_out, strict=True)
    alone = [float(serve(SHAPE, engine(), RULES, *row).latency_s[0]) for row in rows]
    np.testing.assert_allclose(together, alone, rtol=1e-13)


@given(tensor=st.sampled_from([1, 2, 8, 16]), stages=st.sampled_from([1, 2]), tokens=st.integers(2, 20_000))
def test_largest_batch_fits_and_one_more_group_does_not(tensor: int, stages: int, tokens: int) -> None:
    used = engine(tensor=tensor, pipeline=stages)
    found = int(largest_batch(SHAPE, used, RULES, tokens - 1, 1))
    copies = max(tensor / SHAPE.kv_heads, 1)
    each = SHAPE.layers * 2 * SHAPE.kv_heads * SHAPE.head_dim * 2 * tokens * copies
    room = 0.95 * 80e9 * tensor * stages - 2 * SHAPE.num_parameters
    assert found % stages == 0
    assert found * each <= room < (found + stages) * each


def test_no_room_and_the_scheduler_limit() -> None:
    assert int(largest_batch(load_model("llama-3.1-405b"), engine(), RULES, 10, 10)) == 0
    assert int(largest_batch(SHAPE, engine(max_batch=7), RULES, 10, 10)) == 7
    assert largest_batch(SHAPE, engine(), RULES, [10, 1000], [10, 1000]).shape == (2,)


def test_a_long_decode_is_faster_for_each_sequence_in_a_larger_batch() -> None:
    rates = serve(SHAPE, engine(), RULES, [1, 2, 4, 8, 16, 32], 128, 256).output_tokens_per_s
    assert np.all(np.diff(rates) > 0)
    assert np.all(np.diff(rates / np.array([1, 2, 4, 8, 16, 32])) < 0)


@pytest.mark.parametrize("row", [(0, 1, 1), (1, 0, 1), (1, 1, 0)])
def test_counts_from_one(row: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="count from 1"):
        serve(SHAPE, engine(), RULES, *row)

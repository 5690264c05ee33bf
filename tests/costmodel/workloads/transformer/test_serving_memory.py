"""The largest batch against its definition, with and without rules."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costmodel.serving.backends import ServingCurve, usual_curve
from costmodel.serving.kernel_rules import KernelRules
from costmodel.workloads.transformer.serving_memory import ServingMemory, TierShares
from costmodel.workloads.transformer.shapes import TransformerShape, load_model

SHAPE = load_model("llama-3.1-8b")
RESERVING = KernelRules(memory_reserve=0.05)


def memory(
    rules: KernelRules | None, tensor: int, stages: int, tokens: int, shape: TransformerShape = SHAPE, **changes: Any
) -> ServingMemory:
    degrees = (np.array([float(each)]) for each in (tensor, 1, stages))
    curve = RESERVING.software
    return ServingMemory(shape, *degrees, "fp8", "fp16", 0.0, tokens - 1.0, 1.0, curve, True, None, rules)


@given(tensor=st.sampled_from([1, 2, 8, 16]), stages=st.sampled_from([1, 2, 4]), tokens=st.integers(2, 20_000))
def test_largest_batch_fits_and_one_more_group_does_not(tensor: int, stages: int, tokens: int) -> None:
    """Of a stage with an even share of layers, norms whole on each rank, and one matrix of the vocabulary."""
    used = memory(RESERVING, tensor, stages, tokens)
    found = int(used.slots(80e9, np.array([np.inf]), None)[0])
    copies = max(tensor / SHAPE.kv_heads, 1)
    each = SHAPE.layers / stages * 2 * SHAPE.kv_heads * SHAPE.head_dim * 2 * tokens * copies / tensor
    vocabulary = SHAPE.vocabulary * SHAPE.hidden * (1 if stages > 1 else 2)
    matrices = SHAPE.hidden * (2 * 32 * 128 + 2 * 8 * 128 * copies) + 3 * SHAPE.hidden * SHAPE.ffn
    held = (SHAPE.layers / stages * matrices + vocabulary) / tensor + SHAPE.layers / stages * 2 * SHAPE.hidden
    room = 0.95 * 80e9 - held
    assert found % stages == 0
    assert found * each <= room * (1 + 1e-9) < (found + stages) * each * (1 + 2e-9)
    assert float(used.used_bytes([found], 80e9)[0]) <= 0.95 * 80e9 * (1 + 1e-9)


def test_limits_of_the_scheduler_and_of_memory() -> None:
    used = memory(RESERVING, 1, 1, 20)
    assert used.slots(80e9, np.array([100.0]), 7) == 7
    assert used.slots(80e9, np.array([5.0]), 7) == 5
    crowded = memory(RESERVING, 1, 1, 20, load_model("llama-3.1-405b"))
    assert crowded.slots(80e9, np.array([100.0]), None) == 1
    assert crowded.least_bytes[0] > 80e9


@pytest.mark.parametrize("rules", [None, RESERVING])
def test_a_request_fits_just_where_the_least_memory_says(rules: KernelRules | None) -> None:
    used = memory(rules, 2, 2, 1000)
    least = float(used.least_bytes[0])
    assert used.used_bytes([1.0], least)[0] == pytest.approx(least * used.share)


def test_stages_divide_what_is_held() -> None:
    held = [float(memory(RESERVING, 1, stages, 10).held_bytes[0]) for stages in (1, 2, 4, 8)]
    assert np.all(np.diff(held) < 0)
    uneven = [float(memory(RESERVING, 1, stages, 10).held_bytes[0]) for stages in (3, 4)]
    layer = (held[1] - held[2]) / 8
    assert uneven[0] - uneven[1] == pytest.approx(3 * layer)  # 11 of 32 layers, and 8


def away(weights: float, cache: float, tier: float = 1e15) -> ServingMemory:
    degrees = (np.array([each]) for each in (2.0, 1.0, 1.0))
    shares = TierShares(np.array([weights]), np.array([cache]), tier)
    return ServingMemory(SHAPE, *degrees, "fp8", "fp16", 100.0, 900.0, 200.0, generic(), False, None, None, shares)


def generic() -> ServingCurve:
    return usual_curve("generic")


@pytest.mark.parametrize(("weights", "cache"), [(0.5, 0.0), (0.0, 0.25), (1.0, 1.0)])
def test_what_is_away_is_local_for_two_layers_at_a_time(weights: float, cache: float) -> None:
    all_near, found = away(0.0, 0.0), away(weights, cache)
    matrices = SHAPE.hidden * 2 * (32 + 8) * 128 + 3 * SHAPE.hidden * SHAPE.ffn
    layers = SHAPE.layers * (matrices / 2 + 2 * SHAPE.hidden)
    token = SHAPE.layers * 2 * 2 * SHAPE.kv_heads / 2 * SHAPE.head_dim
    leaves = 1 - 2 / SHAPE.layers
    assert found.held_bytes[0] == pytest.approx(all_near.held_bytes[0] - leaves * weights * layers)
    assert found.near_token_bytes[0] == pytest.approx(token * (1 - leaves * cache))
    assert found.least_away_bytes[0] == pytest.approx(weights * layers + cache * token * 1200)
    moved = found.moved_bytes(np.array([3.0]), np.array([3000.0]), np.array([3.0]))
    assert moved[0] == pytest.approx(weights * layers + cache * token * 3103)
    assert found.moved_bytes(np.array([0.0]), np.array([0.0]), np.array([0.0]))[0] == 0
    assert found.slots(20e9, np.array([1e6]), None)[0] > all_near.slots(20e9, np.array([1e6]), None)[0]


def test_the_tier_bounds_what_runs_at_once() -> None:
    users = np.array([1e6])
    token = away(0.0, 0.5).away_token_bytes[0]
    few = away(0.0, 0.5, 10 * 1100 * token + 100 * token)
    assert 1 <= few.slots(80e9, users, None)[0] <= 10 / (1 - 200 / 1100)
    assert few.slots(80e9, users, None)[0] < away(0.0, 0.5).slots(80e9, users, None)[0]

"""Services that keep shares of weights and caches in a second tier: listed, priced, and written."""

from typing import Any

import numpy as np
import pytest

from costmodel.hardware.device import Device, load_device
from costmodel.hardware.memory.tier import MemoryTier
from costmodel.parallelism.mappings import share_in_tier
from costmodel.pricing.candidates import Candidates, candidates_of, enumerate_candidates
from costmodel.pricing.score import Scores, score
from costmodel.workloads import TransformerInference
from costmodel.workloads.transformer.shapes import load_model
from tests.costmodel.pricing.score_cases import FAT_TREE, fabric_of
from tests.oracles.score import score_row

FABRIC = fabric_of(FAT_TREE)
CHAT: dict[str, Any] = {"model": "llama-3.1-8b", "concurrency": 1, "input_tokens": 1000, "output_tokens": 101}
SHAPE = load_model("llama-3.1-8b")
LAYER_WEIGHTS = 2 * SHAPE.layers * (SHAPE.hidden * 2 * (32 + 8) * 128 + 3 * SHAPE.hidden * SHAPE.ffn + 2 * SHAPE.hidden)
TOKEN = SHAPE.layers * 2 * 2 * SHAPE.kv_heads * SHAPE.head_dim


def device(bytes_per_s: float, capacity_bytes: float = 1e13, own_bytes: float = 80e9) -> Device:
    tier = MemoryTier(
        name="far", source="test", capacity_bytes=capacity_bytes, bandwidth_bytes_per_s=bytes_per_s, latency_s=0.0,
        energy_j_per_byte=1e-10,
    )  # fmt: skip
    return load_device("h100-sxm").model_copy(update={"offload": tier, "capacity_bytes": own_bytes})


def priced(on: Device, offload: str | list[str], **fields: Any) -> tuple[Candidates, Scores]:
    job = TransformerInference.model_validate(CHAT | {"offload": offload} | fields)
    rows = enumerate_candidates(job, [1], on, FABRIC)
    return rows, score(rows, on, FABRIC)


@pytest.mark.parametrize(("weights", "cache"), [(25, 0), (0, 50), (75, 12.5), (100, 100)])
def test_steps_wait_for_what_passes_a_slow_tier(weights: float, cache: float) -> None:
    """Of one user a step reads its share of weights and of all cached tokens, and writes its share of new ones."""
    offload = "+".join(f"{name} {share} %" for name, share in (("weights", weights), ("cache", cache)) if share)
    slow_s, fast_s = 1 / 1e8, 1 / 2e8
    (_, slow), (_, fast) = (priced(device(1 / each_s), offload) for each_s in (slow_s, fast_s))
    weight_bytes, token_bytes = weights / 100 * LAYER_WEIGHTS, cache / 100 * TOKEN
    token = weight_bytes + token_bytes * (1000 + 101 / 2 + 1)
    prompt = weight_bytes + token_bytes * 1000
    assert slow.tpot_s[0] - fast.tpot_s[0] == pytest.approx(token * (slow_s - fast_s), rel=1e-6)
    assert slow.ttft_s[0] - fast.ttft_s[0] == pytest.approx(prompt * (slow_s - fast_s), rel=1e-6)
    step = (prompt + 100 * token) / 101
    assert slow.offload_s[0] - fast.offload_s[0] == pytest.approx(step * (slow_s - fast_s), rel=1e-6)


def test_a_tier_as_fast_as_can_be_costs_its_energy_alone() -> None:
    (_, alone), (_, beside) = (priced(device(1e18), offload) for offload in ("none", "weights 50 %+cache 100 %"))
    assert beside.step_s[0] == alone.step_s[0]
    assert beside.tpot_s[0] == alone.tpot_s[0]
    assert beside.memory_j[0] > alone.memory_j[0]
    assert beside.footprint_bytes[0] < alone.footprint_bytes[0]


def test_more_users_run_at_once_where_their_caches_leave_local_memory() -> None:
    (few, _), (more, _), (bound, _) = (
        priced(device(1e12, tier, 24e9), offload, concurrency=512)
        for tier, offload in ((1e13, "none"), (1e13, "cache 50 %"), (2e9, "cache 50 %"))
    )
    running = [
        rows.workload.running_requests(rows.mappings, device(1e12, tier, 24e9))[0]  # type: ignore[union-attr]
        for rows, tier in ((few, 1e13), (more, 1e13), (bound, 2e9))
    ]
    assert running[1] > 1.8 * running[0]
    assert running[2] < running[1]
    assert running[2] * 0.5 * TOKEN * 1000 <= 2e9


@pytest.mark.parametrize(("batching", "tier_bytes"), [("static", 1e13), ("static", 2e9), ("continuous", 2e9)])
def test_batches_with_shares_away_cost_what_the_scalar_oracle_says(batching: str, tier_bytes: float) -> None:
    on = device(1e10, tier_bytes, 24e9)
    rows, scores = priced(on, "cache 50 %", concurrency=64, batching=batching)
    expected = score_row(rows, 0, on, FABRIC)
    for name in ("step_s", "ttft_s", "tpot_s", "offload_s", "memory_j", "footprint_bytes", "tier_footprint_bytes"):
        assert getattr(scores, name)[0] == pytest.approx(expected[name], rel=1e-9), name
    assert batching == "continuous" or scores.tier_footprint_bytes[0] <= tier_bytes


def test_every_share_is_listed_and_fits_both_memories() -> None:
    rows, scores = priced(device(1e11, 6e9, 16e9), ["none", "weights", "cache"])
    assert len(rows) == len({rows.configuration(row).offload for row in range(len(rows))})
    codes = rows.mappings.offload[rows.mapping]
    away = share_in_tier(codes, "weights") * LAYER_WEIGHTS + share_in_tier(codes, "cache") * TOKEN * 1101
    assert 0 < len(rows) < 17
    assert (away <= 6e9).all()
    assert (share_in_tier(codes, "weights") > 0).all(), "16 GB of weights have no room"
    written = [rows.configuration(row) for row in range(len(rows))]
    again = candidates_of(written, rows.workload, device(1e11, 6e9, 16e9), FABRIC)
    assert [again.configuration(row) for row in range(len(again))] == written
    np.testing.assert_array_equal(score(again, device(1e11, 6e9, 16e9), FABRIC).step_s, scores.step_s)


def test_without_a_tier_nothing_leaves() -> None:
    rows = enumerate_candidates(
        TransformerInference.model_validate(CHAT | {"offload": ["none", "weights", "cache"]}), [1],
        load_device("h100-sxm"), FABRIC,
    )  # fmt: skip
    assert [rows.configuration(row).offload for row in range(len(rows))] == ["none"]


def test_two_pools_keep_the_same_share_away() -> None:
    job = TransformerInference.model_validate(
        CHAT | {"concurrency": 16, "offload": ["none", "cache 50 %"], "disaggregated": True}
    )
    on = device(1e9)
    rows = enumerate_candidates(job, [4], on, FABRIC)
    scores, away = score(rows, on, FABRIC), rows.mappings.offload[rows.mapping] > 0
    assert away.sum() * 2 == len(rows)
    assert scores.offload_s[away].min() > 0 == scores.offload_s[~away].max()

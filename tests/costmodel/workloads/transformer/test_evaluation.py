"""Training that is followed by evaluation: priced pass by pass, each with its own setting where that pays."""

from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter

from costmodel.fabrics import Fabric, Sipam
from costmodel.hardware.device import load_device
from costmodel.hardware.memory.tier import load_memory_tier
from costmodel.pricing.candidates import candidates_of, enumerate_candidates
from costmodel.pricing.phases import with_phases
from costmodel.pricing.score import score, score_by_phase
from costmodel.workloads import TransformerTraining
from costmodel.workloads.transformer.memory import RUNTIME_BYTES
from costmodel.workloads.transformer.shapes import load_model
from tests.costmodel.pricing.phases_cases import FABRIC
from tests.costmodel.pricing.score_cases import FABRICS, assert_equal_the_oracle, fabric_of
from tests.oracles.score import score_row

DEVICE = load_device("h100-sxm")
SMALL: dict[str, Any] = {"model": "bert-large", "global_batch": 16, "sequence": 512, "micro_batch": (1, 4)}
LONG: dict[str, Any] = {
    "model": "bert-large",
    "global_batch": 8,
    "sequence": 8192,
    "context": (1, 4),
    "sequence_parallel": False,
}
POOL: dict[str, Any] = FABRIC | {"memory_grid": (2, 4, 8)}


def job(fields: dict[str, Any], every: int = 10, batches: int = 20) -> TransformerTraining:
    return TransformerTraining.model_validate(fields | {"evaluation": {"every": every, "batches": batches}})


@pytest.mark.parametrize("fabric_name", FABRICS)
@pytest.mark.parametrize(
    "fields",
    [SMALL | {"interleave": (1, 2), "zero": (1, 3)}, SMALL | {"precision": "fp8", "recompute": "full"}, LONG],
)
def test_a_step_has_its_share_of_forward_passes(fields: dict[str, Any], fabric_name: str) -> None:
    fabric, roomy = fabric_of(FABRICS[fabric_name]), DEVICE.model_copy(update={"capacity_bytes": 1e13})
    rows = enumerate_candidates(job(fields), [1, 4, 8], roomy, fabric)
    assert_equal_the_oracle(rows, roomy, fabric, 15)


def test_rare_evaluation_costs_nothing_and_the_rest_in_proportion() -> None:
    fabric = fabric_of(FABRICS["fat_tree"])
    seconds = [
        score(enumerate_candidates(each, [8], DEVICE, fabric), DEVICE, fabric).step_s
        for each in (TransformerTraining.model_validate(SMALL), *(job(SMALL, every) for every in (10, 20, 10**9)))
    ]
    np.testing.assert_allclose(seconds[1] - seconds[0], 2 * (seconds[2] - seconds[0]), rtol=1e-9)
    np.testing.assert_allclose(seconds[3], seconds[0], rtol=1e-6)


def test_evaluation_holds_the_state_of_training_and_two_layers() -> None:
    """Of one rank: 2, 4 and 12 bytes of each parameter, and 32 s b h of a layer (Korthikanti et al., section 4)."""
    fabric, shape = fabric_of(FABRICS["fat_tree"]), load_model("bert-large")
    rows = enumerate_candidates(job(SMALL | {"micro_batch": 4}), [1], DEVICE, fabric)
    first, last = score_by_phase(rows, DEVICE, fabric)
    ends = shape.vocabulary * shape.hidden * (1 if shape.tied_embeddings else 2)
    parameters = ends + shape.layers * (12 * shape.hidden**2 + 2 * shape.hidden)
    layers = 2 * 32 * 4 * 512 * shape.hidden
    assert last.footprint_bytes[0] == pytest.approx(18 * parameters + 2 * ends + layers + RUNTIME_BYTES, rel=1e-6)
    assert last.footprint_bytes[0] < first.footprint_bytes[0]


def test_rows_with_two_settings_cost_both_phases_and_the_switches() -> None:
    fabric = TypeAdapter[Sipam](Fabric).validate_python(POOL)
    large = job({"model": "llama-3.1-8b", "global_batch": 8, "sequence": 2048, "micro_batch": (1, 2)}, every=4)
    single = enumerate_candidates(large, [4, 8], DEVICE, fabric)
    rows, scores = with_phases(single, DEVICE, fabric)
    phased = np.flatnonzero(rows.has_phases)
    copies = phased[rows.first_split[phased] != rows.split[phased]]  # type: ignore[index]
    assert len(copies)
    _, last = score_by_phase(rows, DEVICE, fabric)
    for row in [*phased[:: max(len(phased) // 5, 1)], *copies[:3]]:
        settings = rows.in_first_phase(), rows.in_last_phase()
        splits = [each.splits[each.split[row]] for each in settings]
        parts = [
            score_row(each, int(row), split.device, split.fabric, phase=phase)
            for each, split, phase in zip(settings, splits, ("training", "evaluation"), strict=True)
        ]
        fewer, more = sorted(split.memory_units or 0 for split in splits)
        copied_s = last.footprint_bytes[row] * (more - fewer) / more / (min(more - fewer, fewer) or 1) / 600e9
        switches_s = 2 / 4 * (fabric.reconfiguration_s + copied_s)
        assert scores.step_s[row] == pytest.approx(sum(part["step_s"] for part in parts) + switches_s, rel=1e-9)
    again = candidates_of([rows.configuration(int(row)) for row in phased[:3]], large, DEVICE, fabric)
    np.testing.assert_allclose(score(again, DEVICE, fabric).step_s, scores.step_s[phased[:3]], rtol=1e-12)


@pytest.mark.parametrize("bytes_per_s", [1e9, 1e13])
def test_evaluation_moves_weights_of_a_second_tier_once_for_each_micro_batch(bytes_per_s: float) -> None:
    fabric, tier = fabric_of(FABRICS["fat_tree"]), load_memory_tier("host-pcie5")
    device = DEVICE.model_copy(
        update={
            "capacity_bytes": 1e13,
            "offload": tier.model_copy(update={"bandwidth_bytes_per_s": bytes_per_s, "capacity_bytes": 1e14}),
        }
    )
    offload = ("none", "optimizer", "activations", "weights", "weights+activations+optimizer")
    large = job(SMALL | {"zero": (1, 3), "recompute": ("none", "full"), "offload": offload})
    rows = enumerate_candidates(large, [1, 4], device, fabric)
    assert_equal_the_oracle(rows, device, fabric, 40)
    first, last = score_by_phase(rows, device, fabric)
    moves = rows.mappings.has_offload("weights")[rows.mapping]
    assert ((last.offload_s > 0) <= moves).all()
    assert (last.offload_s[moves] > 0).any() == (bytes_per_s < 1e13)
    away = rows.mappings.offload[rows.mapping] > 0
    assert (first.tier_footprint_bytes[away] >= last.tier_footprint_bytes[away]).all()

"""Arithmetic intensity of inference."""

import pytest

from planner.studies.reproduce.experiments.inference_intensity import FUSED, UNFUSED, Inputs, intensities
from tests.planner.studies.reproduce.experiments.photonic_fabric import outcome

MATRICES = (8192, 10240), (8192, 8192), (8192, 57344), (28672, 8192)
BATCHES, LENGTHS = (1, 4), (256, 512)


def counted(batch: int, new: int, seen: float, read: float, *, is_fused: bool) -> float:
    """FLOP per byte of a layer of Llama 70B whose new tokens attend to `seen` others of `read` in the cache."""
    tokens, scores = batch * new, batch * 64 * new * seen
    flops = 2 * tokens * sum(rows * columns for rows, columns in MATRICES) + 4 * scores * 128
    moved = sum(rows * columns + tokens * (rows + columns) for rows, columns in MATRICES)
    moved += 3 * tokens * 28672 + 2 * 2 * tokens * 8192  # the gate and two norms with their sums
    moved += batch * 2 * 8 * 128 * read + 2 * tokens * 8192 + (0 if is_fused else 4 * scores)
    return flops / (2 * moved)


@pytest.mark.parametrize("label", [FUSED, UNFUSED])
def test_one_layer_product_by_product(label: str) -> None:
    inputs = Inputs(model="llama-3.1-70b", device="h100-sxm", precision="fp16", batches=BATCHES, lengths=LENGTHS)
    prefill, decode = intensities(inputs, label)
    is_fused = label == FUSED
    for row, batch in enumerate(BATCHES):
        for column, length in enumerate(LENGTHS):
            seen = (length + 1) / 2 if is_fused else length
            assert prefill[row, column] == pytest.approx(counted(batch, length, seen, length, is_fused=is_fused))
            context = length + 1
            assert decode[row, column] == pytest.approx(counted(batch, 1, context, context, is_fused=is_fused))


def test_the_turning_point_depends_on_attention() -> None:
    rows = {row.quantity: row for row in outcome("intensity").rows}
    turn = rows["length of the highest prefill intensity"]
    assert turn.verdict == "not derivable"
    assert min(turn.beside.values()) < turn.published_number < max(turn.beside.values())
    assert not [row for row in rows.values() if row.is_failure]

"""Arithmetic intensity of inference."""

import pytest

from costmodel.workloads.transformer.shapes import load_model
from planner.studies.reproduce.experiments.inference_intensity import flops_per_byte
from tests.planner.studies.reproduce.experiments.photonic_fabric import outcome

SHAPE = load_model("llama-3.1-70b")


@pytest.mark.parametrize(
    ("batch", "new", "context", "fused"), [(1, 512, 512, True), (4, 256, 256, False), (16, 1, 4096, True)]
)
def test_one_layer_product_by_product(batch: int, new: int, context: int, fused: bool) -> None:
    flops, moved = 0.0, 0.0
    for rows, columns in ((8192, 10240), (8192, 8192), (8192, 57344), (28672, 8192)):
        flops += 2 * batch * new * rows * columns
        moved += 2 * (rows * columns + batch * new * (rows + columns))
    for _ in range(batch * 64):
        flops += 2 * new * context * 128 * 2
        moved += 2 * (2 * new * 128 + (0 if fused else 4 * new * context))
    moved += 2 * batch * 8 * 2 * context * 128
    found = float(flops_per_byte(SHAPE, batch, new, context, size=2, fused=fused))
    assert found == pytest.approx(flops / moved)


def test_the_turning_point_depends_on_attention() -> None:
    rows = {row.quantity: row for row in outcome("intensity").rows}
    turn = rows["length of the highest prefill intensity"]
    assert turn.verdict == "not derivable"
    assert min(turn.beside.values()) < turn.published_number < max(turn.beside.values())
    assert not [row for row in rows.values() if row.is_failure]

"""Energy of offloading."""

from typing import Any

import pytest

from planner.studies.reproduce.rows import tally
from tests.planner.studies.reproduce.experiments.photonic_fabric import models, outcome, tebibytes


@pytest.mark.slow
@pytest.mark.parametrize("model", models("offload_energy"), ids=lambda model: model["name"])
def test_offload_cells(model: Any) -> None:
    found = outcome("offload_energy").quantities
    layers, hidden = model["layers"], model["hidden"]
    volume, weights = tebibytes(model), 24 * layers * hidden**2 / 1024**4
    outputs = volume * layers * round(hidden / layers) / hidden
    for system, passes in model.get("weight_passes", {}).items():
        counted = (9 * volume + 2 * outputs + passes * weights) * 8e12
        joules = counted * (100e-12 if system == "NVIDIA" else 25e-12)
        assert found[f"offload {model['name']} {system}"] == pytest.approx(joules)


def test_table_3_is_derivable_in_part() -> None:
    rows = outcome("offload_energy").rows
    assert {verdict: count for verdict, count in tally(rows).items() if count} == {"fitted": 14, "not derivable": 30}
    assert rows[0].beside["with whole tebibytes"] == pytest.approx(1.0995 * (rows[0].ours or 0), rel=1e-4)


def test_candidates_move_weights_twice_for_each_micro_batch() -> None:
    """1T: 1,024 micro-batches of 3; beside the weights, inputs of layers there and back."""
    found = outcome("offload_energy").quantities
    activations, weights = 128 * 24576 * 8192 * 3072 * 2, 12 * 128 * 24576**2 * 2
    expected_j = (2 * activations + 2048 * weights) * 100e-12 * 8
    assert found["offload 1T NVIDIA, by the product's model"] == pytest.approx(expected_j, rel=0.01)

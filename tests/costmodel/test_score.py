"""All rows at once against one row at a time, and a pipeline known by hand."""

from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter

from costmodel.candidates import Candidates, enumerate_candidates
from costmodel.fabrics import Fabric, FabricBase
from costmodel.hardware import load_device
from costmodel.score import Scores, score
from costmodel.workloads import Workload
from tests.oracles.score import score_row

DEVICE = load_device("h100-sxm")
LIGHTPATH: dict[str, Any] = {
    "kind": "lightpath", "servers": 2, "tiles_per_server": 4, "wavelengths_per_tile": 8,
    "wavelength_bandwidth": "20 GB/s", "max_peers": 3, "fibers": 1, "alpha": "0.7 us",
    "reconfiguration": "40 us", "energy": "5 pJ/b",
}  # fmt: skip
FAT_TREE: dict[str, Any] = {
    "kind": "fat_tree", "servers": 2, "gpus_per_server": 4, "nvlink_bandwidth": "450 GB/s",
    "nvlink_alpha": "2 us", "nvlink_energy": "10 pJ/b", "network_bandwidth": "50 GB/s",
    "network_alpha": "5 us", "network_energy": "20 pJ/b",
}  # fmt: skip
FABRICS = {
    "lightpath": LIGHTPATH,
    "shared": LIGHTPATH | {"waveguides": "shared"},
    "fat_tree": FAT_TREE,
}
WORKLOADS: dict[str, dict[str, Any]] = {
    "training": {"kind": "transformer_training", "model": "bert-large", "global_batch": 24, "sequence": 512},
    "recompute": {
        "kind": "transformer_training", "model": "gpt3-22b", "global_batch": 8, "sequence": 256,
        "micro_batch": 1, "recompute": "full",
    },
    "serving": {
        "kind": "transformer_inference", "model": "llama-3.1-8b", "concurrency": 8, "input_tokens": 512,
        "output_tokens": 64,
    },
}  # fmt: skip


def candidates_of(workload: dict[str, Any], fabric: FabricBase, *sizes: int) -> Candidates:
    return enumerate_candidates(TypeAdapter(Workload).validate_python(workload), sizes, DEVICE, fabric)


def fabric_of(fields: dict[str, Any]) -> FabricBase:
    fabric: FabricBase = TypeAdapter(Fabric).validate_python(fields)
    return fabric


@pytest.mark.parametrize("fabric_name", FABRICS)
@pytest.mark.parametrize("workload", WORKLOADS)
def test_every_row_costs_what_the_scalar_oracle_says(workload: str, fabric_name: str) -> None:
    fabric = fabric_of(FABRICS[fabric_name])
    candidates = candidates_of(WORKLOADS[workload], fabric, 1, 2, 4, 8)
    scores = score(candidates, DEVICE, fabric)
    assert len(candidates) > 0
    for row in range(0, len(candidates), max(1, len(candidates) // 150)):
        expected = score_row(candidates, row, DEVICE, fabric)
        found = {name: float(column[row]) for name, column in vars(scores).items() if column.ndim == 1}
        found |= dict(zip(("tensor_s", "pipeline_s", "data_s"), scores.communication_s[:, row], strict=True))
        assert found == pytest.approx(expected, rel=1e-12)


def test_derived_columns_and_rows_taken() -> None:
    fabric = fabric_of(LIGHTPATH)
    scores = score(candidates_of(WORKLOADS["training"], fabric, 1, 2, 4), DEVICE, fabric)
    parts = scores.compute_j + scores.memory_j + scores.network_j + scores.static_j
    np.testing.assert_allclose(scores.speed * scores.step_s, 24 * 512)
    np.testing.assert_allclose(scores.energy_j, parts)
    np.testing.assert_allclose(scores.energy_per_work_j * scores.work, parts)
    np.testing.assert_allclose(scores.power_w * scores.step_s, parts)
    taken: Scores = scores.take(np.array([2, 0]))
    assert taken.step_s.tolist() == [scores.step_s[2], scores.step_s[0]]
    assert taken.communication_s.shape == (3, 2)


def test_a_single_device_neither_sends_nor_switches_nor_waits() -> None:
    fabric = fabric_of(LIGHTPATH)
    scores = score(candidates_of(WORKLOADS["training"], fabric, 1), DEVICE, fabric)
    for column in (scores.communication_s, scores.reconfiguration_s, scores.bubble_s, scores.network_j):
        assert not column.any()


def test_bubble_of_a_pipeline_by_hand() -> None:
    """One micro-batch over two stages: what repeats takes twice as long, so the bubble equals it."""
    workload = WORKLOADS["training"] | {"global_batch": 4, "micro_batch": 4}
    fabric = fabric_of(LIGHTPATH)
    candidates = candidates_of(workload, fabric, 2)
    scores = score(candidates, DEVICE, fabric)
    rows = [row for row in range(len(candidates)) if candidates.configuration(row).pipeline == 2]
    assert rows
    for row in rows:
        graph, m = candidates.graph, candidates.mapping[row]
        assert graph.bubble[m] == 2.0
        assert 0 < scores.bubble_s[row] <= scores.step_s[row] / 2 + 1e-12


def test_circuits_switch_for_data_only_beside_other_dimensions() -> None:
    fabric = fabric_of(LIGHTPATH)
    candidates = candidates_of(WORKLOADS["training"], fabric, 2, 4)
    scores = score(candidates, DEVICE, fabric)
    for row in range(len(candidates)):
        c = candidates.configuration(row)
        alone = sum(degree > 1 for degree in (c.tensor, c.pipeline, c.data)) <= 1
        assert (scores.reconfiguration_s[row] == 0) == alone
        if c.tensor == c.data == 2:
            assert scores.reconfiguration_s[row] % 80e-6 == pytest.approx(0, abs=1e-9) or (
                scores.reconfiguration_s[row] % 80e-6 == pytest.approx(80e-6, abs=1e-9)
            )


def test_empty_candidates_have_empty_scores() -> None:
    fabric = fabric_of(LIGHTPATH)
    candidates = candidates_of(WORKLOADS["training"] | {"global_batch": 1, "micro_batch": 1}, fabric, 5)
    assert len(candidates) == 0
    assert score(candidates, DEVICE, fabric).step_s.shape == (0,)

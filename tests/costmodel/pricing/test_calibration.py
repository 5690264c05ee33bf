"""Calibrations replace those of the catalog."""

import numpy as np
import pytest

from costmodel.pricing.calibration import Calibration
from costmodel.pricing.score import score
from tests.costmodel.pricing.score_cases import (
    DEVICE,
    FAT_TREE,
    WORKLOADS,
    assert_equal_the_oracle,
    candidates_of,
    fabric_of,
)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["training", "serving"])
def test_calibrations_replace_those_of_the_catalog(name: str) -> None:
    """Kernels too: a device whose products all take a second."""
    fabric = fabric_of(FAT_TREE)
    numbers = {"matrix": 0.5, "attention": 0.25, "memory": 0.7, "launch": 1e-5, "step": 3e-3}
    gemm = {"launch": 1.0}
    families = {"training": {"bf16": numbers}, "inference": {"bf16": numbers}, "gemm": {"bf16": gemm}}
    calibrations = (Calibration(device=DEVICE.name, families=families, source="round numbers of this test"),)
    candidates = candidates_of(WORKLOADS[name], fabric, 1, 2, 4)
    assert_equal_the_oracle(candidates, DEVICE, fabric, 20, calibrations)
    slow, usual = score(candidates, DEVICE, fabric, calibrations=calibrations), score(candidates, DEVICE, fabric)
    assert np.all(slow.step_s > usual.step_s) or name == "training"
    if name == "serving":
        assert np.all(slow.step_s > 1.0)

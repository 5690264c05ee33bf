"""Calibrations replace those of the catalog."""

from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from costmodel.hardware.device import load_device
from costmodel.pricing.calibration import Calibration, load_calibrations, origin_of
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


ORIGIN = {"software": "Engine 1.2", "date": "2025-06 to 2025-11", "data": "a repository", "rows": 7, "fitted": ["a"]}


def _with_origins(**origins: dict[str, Any]) -> Calibration:
    families = {"nccl": {"node": {"a": 1.0, "b": 2.0}, "rack": {"a": 1.0, "b": 3.0}}}
    return Calibration.model_validate(
        {"device": "h100-sxm", "families": families, "source": "a test", "origins": {"nccl": origins}}
    )


def test_a_number_that_curves_share_counts_once() -> None:
    both = {**ORIGIN, "fitted": ["a", "b"]}
    assert _with_origins(node=ORIGIN).num_fitted("nccl") == 1
    assert _with_origins(node=both, rack=both).num_fitted("nccl") == 3
    assert _with_origins(node=both).num_fitted("gemm") == 0


@pytest.mark.parametrize(
    ("variant", "change", "problem"),
    [
        ("pod", {}, "has no curve 'pod'"),
        ("node", {"fitted": ["c"]}, "has no number 'c'"),
        ("node", {"date": "last year"}, "date"),
        ("node", {"software": ""}, "software"),
        ("node", {"rows": 0}, "rows"),
    ],
)
def test_origins_that_cannot_be_are_refused(variant: str, change: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        _with_origins(**{variant: ORIGIN | change})


def test_every_fitted_curve_of_the_catalog_tells_software_and_date() -> None:
    """Curves without numbers and the one in the midst of all backends were fitted on nothing of their own."""
    for part in load_calibrations():
        for family, variants in part.families.items():
            told = part.origins.get(family, {})
            assert {name for name, numbers in variants.items() if numbers and name != "generic"} <= told.keys()
        assert 1 <= sum(map(part.num_fitted, part.families)) <= 30


def test_the_origin_of_a_curve_is_that_of_the_very_device() -> None:
    found = origin_of(load_device("tpu-v5p"), "training", "fp8")
    assert found is not None
    assert "int8" in found.software
    assert origin_of(load_device("h200-sxm"), "gemm", "bf16") is None

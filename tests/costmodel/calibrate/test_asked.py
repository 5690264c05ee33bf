"""Fits of kernels record what their tables asked for, and rows beyond that are counted."""

import numpy as np
import pytest

from costmodel.calibrate import FAMILIES
from costmodel.calibrate.asked import ranges_of, rows_outside
from costmodel.calibrate.family import Table
from costmodel.hardware.device import load_device
from costmodel.pricing.calibration import curve_source


def products(m: list[float]) -> Table:
    same = np.full(len(m), 1024.0)
    names = {"device": np.array(["h200"] * len(m)), "gemm_dtype": np.array(["bfloat16"] * len(m))}
    return {**names, "m": np.array(m), "n": same, "k": same, "latency_ms": same}


@pytest.mark.parametrize(("family", "variant"), [
    ("gemm", "bf16"), ("gemm", "fp8"), ("nccl", "node"), ("attention_context", "bf16"), ("attention_generation", "all"),
])  # fmt: skip
def test_every_kernel_curve_of_the_catalog_has_ranges(family: str, variant: str) -> None:
    source = curve_source(load_device("h200-sxm"), family, variant)
    assert source is not None
    assert source[0] == "h100-sxm"
    assert source[1] is not None
    assert source[1].ranges


def test_rows_outside_are_counted_and_told() -> None:
    gemm = FAMILIES["gemm"]
    assert rows_outside(gemm, products([1, 4096, 32768])) == ()
    (found,) = rows_outside(gemm, products([1, 40_000, 65_536]))
    assert (found.fitted_on, found.variant, found.rows) == ("h100-sxm", "bf16", 2)
    assert [far.told for far in found.far] == ["65,536 rows of a matrix product (fitted on 1 to 32,768)"]


def test_ranges_are_of_rows_that_can_be_predicted() -> None:
    gemm = FAMILIES["gemm"]
    assert gemm.asked is not None
    assert ranges_of(gemm.asked(products([0, 16, 64])))["h200-sxm", "bf16"]["m"] == (16, 64)

"""Matrix products: what the fit finds again, and how far it is from rows it has not seen."""

from functools import cache

import numpy as np
import pytest

from costmodel.calibrate.family import Table
from costmodel.calibrate.gemm import (
    FAMILY,
    FULL,
    MIN_ROWS,
    TERMS,
    TERMS_OF_FP8,
    _absolute_errors,
    _devices,
    _fit,
    _rows,
)
from costmodel.hardware.device import load_device
from costmodel.kernels.gemm import GemmCurve, gemm_curve, gemm_s
from costmodel.pricing.calibration import Calibration
from planner.tables import read_table
from tests.paths import SHARED

MEASURED = SHARED / "measured" / "gemm.csv"
needs_table = pytest.mark.skipif(not MEASURED.exists(), reason="../shared/measured/gemm.csv is absent")
KNOWN = GemmCurve(
    launch_s=4e-6, matrix_efficiency=0.7, memory_efficiency=0.9, wave_rounding=0.3, overlap=3.0,
    cache_bytes_per_s=90e9, store_bytes_per_s=20e9, split_s=3e-6, quantize_launch_s=8e-6, quantize_bytes_per_s=2e12,
)  # fmt: skip
MARKS = {("a100-sxm", "bf16"): 0.09, ("h100-sxm", "bf16"): 0.07, ("h100-sxm", "fp8"): 0.07}
"""mean error on unseen rows that is asked for"""
REACHED = {("a100-sxm", "bf16"): 0.079, ("h100-sxm", "bf16"): 0.060, ("h100-sxm", "fp8"): 0.034}
"""and what these curves reach, with a little room"""


def _table(curve: GemmCurve, device: str = "h100", num_rows: int = 600) -> Table:
    """What a machine of this curve would measure, half in bf16 and half in fp8."""
    generator = np.random.default_rng(0)
    m, n, k = np.round(2.0 ** generator.uniform(4, 14, (3, num_rows)))
    dtype = np.where(np.arange(num_rows) % 2 == 0, "bfloat16", "fp8")
    latency_s = np.where(
        dtype == "fp8",
        gemm_s(m, n, k, load_device(device), "fp8", curve),
        gemm_s(m, n, k, load_device(device), "bf16", curve),
    )
    names = np.full(num_rows, device)
    return {"device": names, "gemm_dtype": dtype, "m": m, "n": n, "k": k, "latency_ms": 1e3 * latency_s}


@pytest.mark.slow
def test_the_fit_finds_the_numbers_of_a_known_curve() -> None:
    assert FAMILY.fit is not None
    fit = FAMILY.fit(_table(KNOWN))
    assert fit.curves.keys() == {("h100-sxm", "bf16"), ("h100-sxm", "fp8")}
    assert set(fit.rows.values()) == {300}
    assert max(fit.mean_error.values()) < 1e-3
    for (_, variant), numbers in fit.curves.items():
        assert ("quantize_launch_s" in numbers) == (variant == "fp8")
        for name, value in numbers.items():
            assert value == pytest.approx(getattr(KNOWN, name), rel=0.02), (variant, name)


@pytest.mark.slow
def test_precisions_share_all_but_the_efficiency_and_the_quantization() -> None:
    assert FAMILY.fit is not None
    fit = FAMILY.fit(_table(KNOWN))
    one, other = fit.curves["h100-sxm", "bf16"], fit.curves["h100-sxm", "fp8"]
    shared = [name for name in one if name != "matrix_efficiency"]
    assert all(one[name] == other[name] for name in shared)
    assert len(shared) + len(one.keys() - set(shared)) + len(other.keys() - set(shared)) <= 12


def test_predictions_of_a_calibration_replace_those_of_the_catalog() -> None:
    numbers = KNOWN.model_dump(by_alias=False)
    part = Calibration(device="h100-sxm", families={"gemm": {"bf16": numbers, "fp8": numbers}}, source="made up")
    table = _table(KNOWN)
    (series,) = FAMILY.predict(table, (part,))
    assert series.predicted == pytest.approx(table["latency_ms"])
    assert series.is_calibrated.all()
    assert series.left_out == ""
    assert not FAMILY.predict(_table(KNOWN, "h200"), None)[0].is_calibrated.any()
    assert np.isfinite(FAMILY.predict(_table(KNOWN, "b200"), None)[0].predicted).all()


def test_rows_without_a_size_are_left_out_with_a_reason() -> None:
    table = dict(_table(KNOWN))
    table["m"] = np.where(np.arange(600) == 7, 0.0, table["m"])
    (series,) = FAMILY.predict(table, None)
    assert np.flatnonzero(np.isnan(series.predicted)).tolist() == [7]
    assert series.left_out == "1 row with m, n or k below 1"


def test_what_the_catalog_lacks_is_named() -> None:
    table = _table(KNOWN)
    with pytest.raises(ValueError, match=r"unknown device 'h101'.*h100-sxm"):
        FAMILY.predict({**table, "device": np.full(600, "h101")}, None)
    with pytest.raises(ValueError, match="gemm_dtype 'int3' is not known; use one of bfloat16"):
        FAMILY.predict({**table, "gemm_dtype": np.full(600, "int3")}, None)
    with pytest.raises(ValueError, match="'a100-sxm' does not run fp8"):
        FAMILY.predict({**table, "device": np.full(600, "a100")}, None)


def test_too_few_rows_are_refused() -> None:
    assert FAMILY.fit is not None
    with pytest.raises(ValueError, match=f"{MIN_ROWS - 1} rows of bf16 to fit; give {MIN_ROWS} or more"):
        FAMILY.fit(_table(KNOWN, num_rows=2 * (MIN_ROWS - 1)))


@cache
def _measured() -> Table:
    return read_table(MEASURED).columns


@pytest.mark.slow
@needs_table
@pytest.mark.parametrize("is_by_shape", [False, True], ids=["rows", "shapes"])
def test_unseen_rows(is_by_shape: bool) -> None:
    for device, own in _devices(_measured()):
        code = own["n"] * 1e6 + own["k"] if is_by_shape else np.arange(len(own["m"]))
        groups = np.unique(code, return_inverse=True)[1]
        is_first = (np.random.default_rng(1).permutation(groups.max() + 1) % 2 == 0)[groups]
        errors = np.empty(len(groups))
        for rows in (is_first, ~is_first):
            curves = _fit(_rows(own, rows), device, FULL, 1500)
            errors[~rows] = _absolute_errors(_rows(own, ~rows), device, curves)
        for variant in np.unique(own["variant"]):
            key = (device.name, str(variant))
            assert errors[own["variant"] == variant].mean() < REACHED[key] < MARKS[key], key


@pytest.mark.slow
@needs_table
def test_the_catalog_holds_what_the_table_gives() -> None:
    assert FAMILY.fit is not None
    fit = FAMILY.fit(_measured())
    assert fit.curves.keys() == MARKS.keys()
    assert fit.rows == {("a100-sxm", "bf16"): 1139, ("h100-sxm", "bf16"): 4460, ("h100-sxm", "fp8"): 4528}
    for (name, variant), numbers in fit.curves.items():
        curve, is_fitted_here = gemm_curve(load_device(name), "fp8" if variant == "fp8" else "bf16")
        assert is_fitted_here
        for parameter, value in numbers.items():
            assert getattr(curve, parameter) == pytest.approx(value, rel=0.02, abs=1e-9), (name, variant, parameter)


@pytest.mark.slow
@needs_table
def test_every_term_earns_its_place() -> None:
    assert FAMILY.ablations is not None
    found = FAMILY.ablations(_rows(_measured(), np.arange(len(_measured()["m"])) % 3 == 0))
    error = {(each.device, each.variant, each.term): each.mean_error for each in found}
    assert max(each.num_parameters for each in found) <= 12
    for term in TERMS:
        assert any(error[*key, term.name] > 1.02 * error[*key, ""] for key in MARKS), term.name
    for term in TERMS_OF_FP8:
        assert error["h100-sxm", "fp8", term.name] > 1.02 * error["h100-sxm", "fp8", ""], term.name

"""Curves of attention on the measured tables: accuracy on rows that were not fitted, and what each term earns."""

import numpy as np
import pytest

from costmodel.calibrate.attention import CONTEXT, GENERATION
from costmodel.calibrate.family import Family, Table
from costmodel.hardware.device import load_device
from costmodel.kernels.attention_context import PrefillCurve
from costmodel.kernels.attention_generation import DecodeCurve
from costmodel.pricing.calibration import Calibration
from tests.paths import SHARED

MEASURED = SHARED / "measured"
FAMILIES = {"context": CONTEXT, "generation": GENERATION}
MARKS = {
    ("context", "a100-sxm"): 0.08,
    ("context", "h100-sxm"): 0.06,
    ("generation", "a100-sxm"): 0.09,
    ("generation", "h100-sxm"): 0.09,
}
"""mean absolute relative error that no device may exceed on rows that were not fitted"""


def table(family: Family) -> Table:
    path = MEASURED / f"{family.name}.csv"
    if not path.exists():
        pytest.skip(f"no measured table {family.name}.csv in ../shared/measured")
    with path.open() as file:
        names = file.readline().strip().split(",")
        lines = [line.strip().split(",") for line in file]
    text = {name: np.array(column) for name, column in zip(names, zip(*lines, strict=True), strict=True)}
    return {name: text[name] if name in family.names else text[name].astype(float) for name in family.columns}


def rows(whole: Table, keep: np.ndarray) -> Table:
    return {name: column[keep] for name, column in whole.items()}


def calibrations(family: Family, fitted: Table) -> tuple[Calibration, ...]:
    """Calibrations as the catalog holds them, from a fit."""
    return tuple(
        Calibration(device=device, families={family.name: {variant: numbers}}, source="test")
        for (device, variant), numbers in family.fit(fitted).curves.items()
    )


def mean_errors(family: Family, judged: Table, curves: tuple[Calibration, ...] | None) -> dict[str, float]:
    """Mean absolute relative error by device, each with the calibrations of its own."""
    found = {}
    for name in np.unique(judged["device"]):
        device = load_device(name).name
        own = None if curves is None else tuple(curve for curve in curves if curve.device == device)
        (series,) = family.predict(rows(judged, judged["device"] == name), own)
        assert series.is_calibrated.all()
        found[device] = float(np.abs(series.predicted / series.measured - 1).mean())
    return found


@pytest.mark.slow
@pytest.mark.parametrize("kind", FAMILIES)
@pytest.mark.parametrize("halves", [0, 1])
def test_rows_that_were_not_fitted(kind, halves):
    family, whole = FAMILIES[kind], table(FAMILIES[kind])
    is_first = np.random.default_rng(halves).permutation(len(whole["step"])) % 2 == 0
    found = mean_errors(family, rows(whole, ~is_first), calibrations(family, rows(whole, is_first)))
    assert {device: error for device, error in found.items() if error > MARKS[kind, device]} == {}


@pytest.mark.slow
@pytest.mark.parametrize("kind", FAMILIES)
def test_head_counts_that_were_not_fitted(kind):
    family, whole = FAMILIES[kind], table(FAMILIES[kind])
    is_kept_apart = np.isin(whole["num_heads"], [4, 16, 48, 96])
    curves = calibrations(family, rows(whole, ~is_kept_apart))
    found = mean_errors(family, rows(whole, is_kept_apart), curves)
    assert {device: error for device, error in found.items() if error > MARKS[kind, device]} == {}


@pytest.mark.slow
@pytest.mark.parametrize("kind", FAMILIES)
def test_the_catalog_holds_the_fit(kind):
    family, whole = FAMILIES[kind], table(FAMILIES[kind])
    by_catalog = mean_errors(family, whole, None)
    assert by_catalog == pytest.approx(mean_errors(family, whole, calibrations(family, whole)), rel=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("kind", FAMILIES)
def test_every_number_earns_its_place(kind):
    family = FAMILIES[kind]
    whole = table(family)
    found = family.ablations(whole)
    for full in (one for one in found if one.term == ""):
        curve = [one for one in found if (one.device, one.variant) == (full.device, full.variant) and one.term]
        is_small = {"start of a tile"} if full.device == "a100-sxm" else set()
        assert {one.term for one in curve if one.mean_error < 1.02 * full.mean_error} <= is_small
        assert all(one.num_parameters < full.num_parameters for one in curve)


def test_a_number_that_earns_nothing_is_dropped():
    whole = table(CONTEXT)
    found = CONTEXT.fit(rows(whole, whole["device"] == "a100")).curves["a100-sxm", "bf16"]
    assert found["tile_s"] == 0


def made_up(**columns) -> Table:
    base = {
        "device": "h200", "attn_dtype": "bfloat16", "kv_cache_dtype": "fp8", "batch_size": 4.0, "isl": 512.0,
        "step": 0.0, "num_heads": 32.0, "num_key_value_heads": 8.0, "head_dim": 128.0, "latency_ms": 0.1,
    }  # fmt: skip
    return {name: np.array([value]) for name, value in (base | columns).items()}


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_devices_without_a_fit_are_predicted_and_said_to_be(family):
    (series,) = family.predict(made_up(), None)
    assert np.isfinite(series.predicted).all()
    assert not series.is_calibrated.any()
    assert (family.predict(made_up(device="b200"), None)[0].predicted < series.predicted * 1.01).all()


def test_a_kernel_without_rows_is_not_calibrated():
    curve = DecodeCurve().model_dump(by_alias=False, exclude={"fp8_block_s", "fp8_token_s", "fp8_share"})
    own = (Calibration(device="h100-sxm", families={GENERATION.name: {"all": curve}}, source="test"),)
    assert not GENERATION.predict(made_up(device="h100"), own)[0].is_calibrated.any()
    assert GENERATION.predict(made_up(device="h100", kv_cache_dtype="bfloat16"), own)[0].is_calibrated.all()


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_rows_without_a_size_are_left_out(family):
    (series,) = family.predict(made_up(num_heads=0.0), None)
    assert np.isnan(series.predicted).all()
    assert series.left_out == "sizes that are not above 0"


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_errors_name_what_the_catalog_lacks(family):
    with pytest.raises(ValueError, match="unknown device 'h300'"):
        family.predict(made_up(device="h300"), None)
    with pytest.raises(ValueError, match="unknown precision 'int3'"):
        family.predict(made_up(kv_cache_dtype="int3"), None)
    with pytest.raises(ValueError, match="has 1 row that can be fitted; give 24 or more"):
        family.fit(made_up())


def test_a_fit_recovers_the_curve_of_made_up_rows():
    rng = np.random.default_rng(0)
    true = PrefillCurve(launch_s=8e-6, matrix_efficiency=0.6, memory_efficiency=0.7, tile_s=3e-6)
    columns = {
        "batch_size": rng.integers(1, 64, 200).astype(float),
        "isl": 2.0 ** rng.integers(4, 13, 200),
        "num_heads": 8.0 * rng.integers(1, 8, 200),
    }
    shapes = {name: np.resize(column, 200) for name, column in made_up(device="h100").items()} | columns
    numbers = true.model_dump(by_alias=False)
    known = (Calibration(device="h100-sxm", families={CONTEXT.name: {"bf16": numbers}}, source="test"),)
    shapes["latency_ms"] = CONTEXT.predict(shapes, known)[0].predicted
    assert CONTEXT.fit(shapes).curves["h100-sxm", "bf16"] == pytest.approx(numbers, rel=1e-3)

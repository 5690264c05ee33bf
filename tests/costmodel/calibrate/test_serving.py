"""Serving: what the fit finds again, what is left out, and how far it is from rows it has not seen."""

from functools import cache

import numpy as np
import pytest

from costmodel.calibrate.family import Fit, Floats, Table
from costmodel.calibrate.parts import parts_of
from costmodel.calibrate.serving import FAMILY, MIN_ROWS, _rows
from costmodel.calibrate.serving_fit import FULL, TERMS, Term, fit_device
from costmodel.calibrate.serving_rows import REQUESTS_PER_USER, pairs
from costmodel.hardware.device import load_device
from costmodel.pricing.calibration import Calibration
from costmodel.serving import simulate
from costmodel.serving.backends import ServingCurve
from planner.tables import read_table
from tests.paths import SHARED

MEASURED = SHARED / "measured" / "serving.csv"
needs_table = pytest.mark.skipif(not MEASURED.exists(), reason="../shared/measured/serving.csv is absent")
TOKEN_MARK, FIRST_MARK = 0.065, 0.21
"""mean errors on unseen rows that are asked for: 6 to 7 % per output token, 20 to 22 % to the first token"""
KNOWN = {
    "matrix_slowdown": 1.25, "layer_s": 25e-6, "sequence_s": 40e-6, "eager_layer_s": 0.6e-3, "first_token_s": 30e-3,
}  # fmt: skip


def part_of(numbers: dict[str, float], **of_pairs: dict[str, float]) -> Calibration:
    variants = {"engine": numbers, **{name.replace("__", "/"): own for name, own in of_pairs.items()}}
    return Calibration(device="h100-sxm", families={"serving": variants}, source="made up")


def grid(device: str = "h100", model: str = "Llama-3.1-8B-Instruct", backend: str = "engine") -> dict[str, np.ndarray]:
    """Rows without measurements."""
    sizes = np.array(
        [(t, i, o, c) for t in (1, 4, 8) for i in (512, 2048) for o in (64, 256) for c in (4, 32)], dtype=np.float64
    )
    names = {"model": model, "device": device, "backend": backend, "precision": "bf16"}
    table = {name: np.full(len(sizes), value) for name, value in names.items()}
    for number, name in enumerate(("tp_size", "input_tokens", "output_tokens", "concurrency")):
        table[name] = sizes[:, number]
    return table | {"ttft_ms": np.ones(len(sizes)), "tpot_ms": np.ones(len(sizes))}


def measured_by(calibration: Calibration) -> Table:
    """What a machine with these numbers would measure."""
    table = grid()
    first, token = FAMILY.predict(table, (calibration,))
    return table | {"ttft_ms": first.predicted, "tpot_ms": token.predicted}


@pytest.mark.slow
def test_the_fit_finds_known_numbers_and_ways_again() -> None:
    assert FAMILY.fit is not None
    fit = FAMILY.fit(measured_by(part_of(KNOWN, **{"engine__llama-3.1-8b": {"held_requests": 1.0}})))
    assert fit.curves["h100-sxm", "engine/llama-3.1-8b"] == {"held_requests": 1.0}
    found = fit.curves["h100-sxm", "engine"]
    assert found["prefill_tokens"] == 0
    assert fit.mean_error["h100-sxm", "engine"] < 0.01
    for name, value in KNOWN.items():
        assert found[name] == pytest.approx(value, rel=0.15), name


@pytest.mark.slow
def test_prompts_first_is_told_from_prompts_beside_answers() -> None:
    assert FAMILY.fit is not None
    fit = FAMILY.fit(measured_by(part_of({**KNOWN, "prefill_tokens": 16384.0})))
    assert fit.curves["h100-sxm", "engine"]["prefill_tokens"] == 16384


def test_predictions_are_those_of_the_simulation() -> None:
    table = grid(model="qwen3-32b", backend="vllm")
    first, token = FAMILY.predict(table, None)
    row = 5
    assert np.isfinite(token.predicted[row])
    found = simulate(
        "qwen3-32b",
        load_device("h100"),
        backend="vllm",
        tensor=int(table["tp_size"][row]),
        input_tokens=int(table["input_tokens"][row]),
        output_tokens=int(table["output_tokens"][row]),
        concurrency=int(table["concurrency"][row]),
        requests_per_user=REQUESTS_PER_USER,
    )
    assert first.predicted[row] == pytest.approx(1e3 * found.ttft_s)
    assert token.predicted[row] == pytest.approx(1e3 * found.tpot_s)
    assert (first.unit, token.unit) == ("ms", "ms")


def test_other_devices_of_the_catalog_and_unseen_pairs_are_predicted_and_labelled() -> None:
    for device in ("h200", "b200", "a100"):
        _, token = FAMILY.predict(grid(device, "qwen3-32b", "trtllm"), None)
        assert np.isfinite(token.predicted[token.predicted > 0]).all()
        assert not token.is_calibrated.any()
    _, token = FAMILY.predict(grid(backend="another"), None)
    assert np.isfinite(token.predicted).all()
    assert not token.is_calibrated.any()


def test_rows_that_cannot_be_simulated_are_left_out_with_the_reason() -> None:
    table = grid() | {"pp_size": np.ones(24)}
    table["pp_size"][0] = 2
    table["tp_size"][1] = 3
    table["output_tokens"][2] = 1
    table["input_tokens"][3] = 1e6
    table["model"] = np.array(["unheard-of-7b", *table["model"][1:]])
    first, token = FAMILY.predict(table, None)
    assert np.flatnonzero(np.isnan(token.predicted)).tolist() == [0, 1, 2, 3]
    assert np.array_equal(np.isnan(first.predicted), np.isnan(token.predicted))
    assert "do not fit into memory" in token.left_out
    assert FAMILY.predict(grid(), None)[0].left_out == ""


def test_too_few_rows_are_refused() -> None:
    assert FAMILY.fit is not None
    table = measured_by(part_of(KNOWN))
    with pytest.raises(ValueError, match=f"give {MIN_ROWS} or more"):
        FAMILY.fit({name: column[:5] for name, column in table.items()})
    with pytest.raises(ValueError, match="no row can be fitted"):
        FAMILY.fit({**table, "ttft_ms": np.full(24, np.nan)})


def test_each_number_of_the_curve_has_a_meaning_and_they_are_few() -> None:
    assert len(ServingCurve.model_fields) <= 12
    assert all(field.description for field in ServingCurve.model_fields.values())
    assert {name for term in TERMS for name in term.fixed} <= set(ServingCurve.model_fields)


@cache
def measured() -> Table:
    return read_table(MEASURED).columns


def errors(table: Table, fit: Fit | None) -> tuple[Floats, Floats]:
    calibrations = None if fit is None else tuple(parts_of({"serving": fit}).values())
    first, token = FAMILY.predict(table, calibrations)
    return np.abs(first.predicted / first.measured - 1), np.abs(token.predicted / token.measured - 1)


@pytest.mark.slow
@needs_table
def test_the_catalog_explains_the_rows_it_was_fitted_on() -> None:
    first, token = errors(measured(), None)
    assert (len(token), np.isnan(token).sum()) == (304, 0)
    assert token.mean() < 0.047
    assert first.mean() < 0.175
    assert np.median(first) < 0.12
    assert all(series.is_calibrated.all() for series in FAMILY.predict(measured(), None))


@pytest.mark.slow
@needs_table
def test_unseen_halves_are_within_the_marks() -> None:
    assert FAMILY.fit is not None
    is_first = np.random.default_rng(0).permutation(304) % 2 == 0
    found = [
        errors(_rows(measured(), ~fitted), FAMILY.fit(_rows(measured(), fitted))) for fitted in (is_first, ~is_first)
    ]
    assert np.concatenate([token for _, token in found]).mean() < TOKEN_MARK
    assert np.concatenate([first for first, _ in found]).mean() < FIRST_MARK


@pytest.mark.slow
@needs_table
@pytest.mark.parametrize("users", [16, 64])
def test_a_concurrency_that_was_not_fitted_is_within_the_marks(users: int) -> None:
    assert FAMILY.fit is not None
    is_left_out = measured()["concurrency"] == users
    first, token = errors(_rows(measured(), is_left_out), FAMILY.fit(_rows(measured(), ~is_left_out)))
    assert token.mean() < TOKEN_MARK
    assert first.mean() < FIRST_MARK


@pytest.mark.slow
@needs_table
@pytest.mark.parametrize("name", ["turnaround of users", "prompts first"])
def test_terms_earn_their_places(name: str) -> None:
    """Without the term, refitted, errors on unseen rows are larger; all terms are judged by FAMILY.ablations."""
    table = measured()
    is_fitted = np.random.default_rng(0).permutation(304) % 2 == 0
    full, without = (_unseen(table, is_fitted, term) for term in (FULL, next(t for t in TERMS if t.name == name)))
    assert without > full * 1.05


def _unseen(table: Table, is_fitted: np.ndarray, term: Term) -> float:
    fitted = fit_device([*pairs(_rows(table, is_fitted))], term)
    residuals = [np.concatenate(fitted.residuals(pair)) for pair in pairs(_rows(table, ~is_fitted))]
    return float(np.abs(np.expm1(np.concatenate(residuals))).mean())

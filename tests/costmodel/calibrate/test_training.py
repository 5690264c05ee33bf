"""Training steps: measured rows, what the fit finds again, and what the model says of another program's table."""

import numpy as np
import pytest

from costmodel.calibrate import training
from costmodel.calibrate.family import Series, Table
from costmodel.calibrate.parts import parts_of
from costmodel.pricing.calibration import Calibration, load_calibrations
from costmodel.pricing.efficiency import WIDE_SHARE
from planner.tables import read_table
from tests.costmodel.calibrate.training_cases import MEASURED, ROW, needs_tables, of

KNOWN = {"matrix": 0.5, "attention": 0.4, "memory": 0.95, "launch": 34e-6, "step": 17e-3, "link_bandwidth": 5e11}


def table_of(*changes: dict[str, object]) -> Table:
    rows = [ROW | change for change in changes]
    return {name: np.array([row[name] for row in rows]) for name in ROW}


def known(**curves: dict[str, float]) -> tuple[Calibration, ...]:
    """These curves of B200 before the catalog's, which has those of kernels."""
    return (Calibration(device="b200-sxm", families={"training": curves}, source="known"), *load_calibrations())


def absolute_error(series: Series, rows: np.ndarray) -> np.ndarray:
    return np.abs(series.predicted[rows] / series.measured[rows] - 1)


@needs_tables
def test_measured_steps_are_within_their_marks() -> None:
    table = read_table(MEASURED / "training.csv", "training").columns
    series = training.predict(table)
    step, memory = of(series, "step time"), of(series, "peak memory")
    is_a100 = np.char.startswith(np.asarray(table["device"], str), "a100")
    a100, b200 = absolute_error(step, is_a100), absolute_error(step, ~is_a100)
    assert a100.mean() <= 0.024
    assert a100.max() <= 0.06
    assert b200.mean() <= 0.025
    assert np.nanmean(absolute_error(memory, ~is_a100)) <= 0.02
    assert step.is_calibrated.all()


@pytest.mark.slow
@needs_tables
def test_the_fit_on_small_models_holds_for_large_ones() -> None:
    """Efficiencies of 22B and 175B on A100 predict 530B and 1T."""
    table = read_table(MEASURED / "training.csv", "training").columns
    model = np.asarray(table["model"], str)
    small = np.isin(model, ["megatron-22b", "gpt3-175b"])
    large = np.isin(model, ["megatron-530b", "megatron-1t"])
    fit = training.fit({name: column[small] for name, column in table.items()})
    (numbers,) = fit.curves.values()
    part = Calibration(device="a100-sxm", families={"training": {"bf16": numbers}}, source="half of the rows")
    step = of(training.predict({name: column[large] for name, column in table.items()}, (part,)), "step time")
    assert absolute_error(step, np.ones(len(step.measured), bool)).mean() <= 0.05


@pytest.mark.slow
def test_the_fit_finds_the_numbers_again() -> None:
    changes: list[dict[str, object]] = [
        {"tp": tp, "dp": 8 // tp, "seq_len": length, "micro_batches": number}
        for tp in (1, 2, 4, 8)
        for length in (2048, 16384)
        for number in (2, 16)
    ]
    table = dict(table_of(*changes))
    table["step_s"] = of(training.predict(table, known(bf16=KNOWN)), "step time").predicted
    fit = training.fit(table)
    found = fit.curves["b200-sxm", "bf16"]
    assert fit.mean_error["b200-sxm", "bf16"] < 2e-3
    for name, value in KNOWN.items():
        assert found[name] == pytest.approx(value, rel=0.04), name


def test_curves_of_both_widths_share_what_the_rows_of_both_decide() -> None:
    """Steps in fp8 and in bf16 that were made with one share of matrices and one of attention, links in bf16 alone."""
    narrow = KNOWN | {"link_bandwidth": 630e9}
    wide = KNOWN | {"matrix": WIDE_SHARE * KNOWN["matrix"]}
    changes: list[dict[str, object]] = [
        {"tp": 1, "dp": 8, "seq_len": length, "micro_batches": 8, "precision": "fp8"} for length in (2048, 16384, 65536)
    ] + [{"tp": tp, "dp": 8 // tp, "seq_len": length, "precision": "bf16"} for tp in (2, 8) for length in (2048, 16384)]
    rows = [ROW | change for change in changes]
    table = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    table["step_s"] = of(training.predict(table, known(fp8=narrow, bf16=wide)), "step time").predicted
    fit = training.fit(table)
    fp8, bf16 = (fit.curves["b200-sxm", variant] for variant in ("fp8", "bf16"))
    assert (fit.free["b200-sxm", "fp8"], fit.free["b200-sxm", "bf16"]) == (
        ("matrix", "attention"), ("attention", "link_bandwidth"),
    )  # fmt: skip
    assert bf16["attention"] == fp8["attention"] == pytest.approx(KNOWN["attention"], rel=0.04)
    assert bf16["matrix"] / WIDE_SHARE == fp8["matrix"] == pytest.approx(KNOWN["matrix"], rel=0.04)
    assert bf16["link_bandwidth"] == pytest.approx(KNOWN["link_bandwidth"], rel=0.1)
    part = parts_of({"training": fit}, "made up", "none", "2026")["b200-sxm"]
    assert part.num_fitted("training") == 3


def test_rows_without_memory_are_left_out_with_a_reason() -> None:
    memory = of(training.predict(table_of({}, {"peak_alloc_gib": 60.0})), "peak memory")
    assert np.isnan(memory.predicted[0])
    assert np.isfinite(memory.predicted[1])
    assert memory.left_out


@pytest.mark.parametrize(
    "wrong",
    [{"tp": 3}, {"dp": 3}, {"tp": 1.5}, {"devices": 1e300}, {"seq_len": 1e20}, {"pp": 0}, {"model": "unheard-of-7b"},
     {"recompute": "some"}],
)  # fmt: skip
def test_a_step_that_could_not_be_run_is_left_out_with_the_reason(wrong: dict[str, object]) -> None:
    step, *_ = training.predict(table_of({}, wrong))
    assert np.isnan(step.predicted).tolist() == [False, True]
    assert "do not divide" in step.left_out


def test_an_unknown_device_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown device 'b400'"):
        training.predict(table_of({"device": "b400"}))

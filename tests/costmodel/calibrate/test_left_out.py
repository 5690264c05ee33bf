"""What is left out is predicted by numbers that never saw it."""

import numpy as np
import pytest

from costmodel.calibrate.family import Calibrations, Family, Fit, Series, Table
from costmodel.calibrate.left_out import predict_left_out
from costmodel.pricing.calibration import Calibration, load_calibrations

TABLE: Table = {
    "maker": np.array(["a", "a", "b", "c", "c", "c"]),
    "latency_ms": np.array([1.0, 3.0, 10.0, 4.0, 5.0, 6.0]),
}


def predict(table: Table, calibrations: Calibrations | None) -> tuple[Series, ...]:
    """The only number of this family that is known, wherever it is."""
    assert calibrations is not None
    known = [part.families["mean"]["all"]["value"] for part in calibrations if "mean" in part.families]
    values = np.full(len(table["maker"]), known[0] if len(known) == 1 else np.nan)
    return (Series("latency", "ms", values, table["latency_ms"], np.zeros(len(values), dtype=np.bool_)),)


def fit(table: Table) -> Fit:
    return Fit({("h100-sxm", "all"): {"value": float(table["latency_ms"].mean())}}, {("h100-sxm", "all"): 0.0})


MEAN = Family("mean", ("maker", "latency_ms"), ("maker",), ("maker",), predict, fit)


def test_each_value_is_predicted_by_the_others() -> None:
    (series,) = predict_left_out(MEAN, TABLE, "maker")
    assert series.predicted == pytest.approx([25 / 4, 25 / 4, 19 / 5, 14 / 3, 14 / 3, 14 / 3], rel=1e-4)
    assert series.measured.tolist() == TABLE["latency_ms"].tolist()
    assert not series.is_calibrated.any()


def test_numbers_of_the_catalog_are_not_used_but_for_other_families() -> None:
    known = Calibration(device="h200-sxm", families={"mean": {"all": {"value": 7.0}}}, source="made up")
    (series,) = predict_left_out(MEAN, TABLE, "maker", (known, *load_calibrations()))
    assert np.isfinite(series.predicted).all()


def test_there_must_be_something_else_to_fit_on() -> None:
    one = {name: column[:2] for name, column in TABLE.items()}
    with pytest.raises(ValueError, match="'maker' has one value, a"):
        predict_left_out(MEAN, one, "maker")
    with pytest.raises(ValueError, match="nothing is fitted to tables of kind mean"):
        predict_left_out(Family("mean", (), (), (), predict), TABLE, "maker")


def test_each_half_is_predicted_by_the_other() -> None:
    (series,) = predict_left_out(MEAN, TABLE, "halves")
    total, first = TABLE["latency_ms"].sum(), np.unique(series.predicted)[0]
    is_first = series.predicted == first
    assert is_first.sum() == 3
    assert first == pytest.approx((total - TABLE["latency_ms"][is_first].sum()) / 3, rel=1e-4)

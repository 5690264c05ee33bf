"""Errors of a table as a whole, by group, and its worst rows."""

from pathlib import Path

import numpy as np
import pytest

from costmodel.calibrate.family import Calibrations, Family, Series, Table
from planner import tables
from planner.model.errors import InputError
from planner.studies import validate
from planner.studies.validate import NO_MEASUREMENT, group_labels, to_record, validate_table
from planner.tables import Measurements

COLUMNS: Table = {
    "device": np.array(["b", "a", "a", "a", "a"]),
    "size": np.array([8.0, 10.0, 9.0, 9.0, 9.0]),
    "latency_ms": np.array([1.0, 2.0, 4.0, 0.0, 5.0]),
}


def _predict(table: Table, calibrations: Calibrations | None) -> tuple[Series, ...]:
    predicted = np.array([1.1, 1.0, 5.0, 1.0, np.nan])
    return (Series("latency", "ms", predicted, table["latency_ms"], table["device"] == "a", "too large"),)


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> Measurements:
    family = Family("made_up", tuple(COLUMNS), ("device",), ("device", "size"), _predict)
    monkeypatch.setitem(tables.FAMILIES, "made_up", family)
    return Measurements(Path("made_up.csv"), "made_up", COLUMNS, np.arange(2, 7))


def test_groups_in_order_of_their_values(table: Measurements) -> None:
    (quantity,) = validate_table(table)
    assert [group.name for group in quantity.groups] == ["a 9", "a 10", "b 8"]
    assert [group.errors.mean for group in quantity.groups] == pytest.approx([0.25, 0.5, 0.1])
    assert [group.errors.calibrated_rows for group in quantity.groups] == [1, 1, 0]
    assert group_labels(table).tolist() == ["b 8", "a 10", "a 9", "a 9", "a 9"]


def test_rows_left_out_have_their_reasons(table: Measurements) -> None:
    (quantity,) = validate_table(table)
    assert quantity.num_left_out == 2
    assert quantity.why_left_out == f"too large; {NO_MEASUREMENT}"


def test_the_record_holds_inputs_figures_and_rows(table: Measurements) -> None:
    (quantity,) = validate_table(table)
    record = to_record(table, quantity, num_worst=2, with_rows=True)
    assert [row["line"] for row in record["worst"]] == [3, 4]
    assert record["worst"][0] == {
        "line": 3, "device": "a", "size": 10.0, "measured": 2.0, "predicted": 1.0, "relative_error": -0.5,
        "calibrated": True,
    }  # fmt: skip
    assert (record["rows"], record["left_out"]) == (3, 2)
    assert record["all"]["bias"] == pytest.approx((0.1 - 0.5 + 0.25) / 3)
    assert record["rank_correlation"] == pytest.approx(0.5)
    assert [row["predicted"] for row in record["predictions"]] == [1.1, 1.0, 5.0, 1.0, None]
    assert "predictions" not in to_record(table, quantity, num_worst=2, with_rows=False)


def test_an_error_of_the_model_names_the_file(table: Measurements, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(columns: Table, calibrations: Calibrations | None) -> tuple[Series, ...]:
        raise ValueError("size: negative")

    family = Family("made_up", tuple(COLUMNS), ("device",), (), refuse)
    monkeypatch.setitem(tables.FAMILIES, "made_up", family)
    with pytest.raises(InputError, match=r"made_up\.csv: size: negative"):
        validate.validate_table(table)

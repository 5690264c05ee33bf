"""Predictions of a table against its measurements: errors as a whole, by group, and the worst rows."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costmodel.calibrate.carried_over import carried_over
from costmodel.calibrate.errors import Errors, errors_of, rank_correlation, relative_error
from costmodel.calibrate.family import Calibrations, Floats, Series, Table
from costmodel.calibrate.left_out import HALVES, predict_left_out
from costmodel.hardware.device import Device, load_device
from costmodel.pricing.calibration import Calibration, FitOrigin, load_calibrations
from planner.model.errors import InputError
from planner.tables import Measurements

NO_MEASUREMENT = "nothing above 0 was measured"


@dataclass(frozen=True)
class ErrorGroup:
    """Rows that share the values of the columns by which errors are broken down."""

    key: dict[str, str]
    errors: Errors

    @property
    def name(self) -> str:
        return " ".join(self.key.values()) or "all"


@dataclass(frozen=True)
class QuantityErrors:
    """Errors of one predicted quantity."""

    series: Series
    inputs: Table
    """columns of the table but those with measurements"""
    error: Floats
    """signed and relative, shape (N,); NaN for rows left out"""
    all: Errors | None
    groups: tuple[ErrorGroup, ...]
    rank_correlation: float | None
    """Spearman's, of predictions with measurements: 1 where they order the rows alike"""

    @property
    def num_left_out(self) -> int:
        return int(np.isnan(self.error).sum())

    @property
    def why_left_out(self) -> str:
        is_unmeasured = ~(np.nan_to_num(self.series.measured) > 0)
        reasons = [self.series.left_out] if np.isnan(self.error[~is_unmeasured]).any() else []
        reasons += [NO_MEASUREMENT] if is_unmeasured.any() else []
        return "; ".join(reason for reason in reasons if reason)

    def worst(self, num_rows: int) -> list[int]:
        """Rows with the largest absolute error first."""
        size = np.nan_to_num(np.abs(self.error), nan=-1.0)
        order = np.argsort(-size, kind="stable")[:num_rows]
        return [int(row) for row in order if size[row] >= 0]


def validate_table(
    table: Measurements,
    calibrations: Calibrations | None = None,
    fitted_on: Device | None = None,
    leave_out: str | None = None,
) -> tuple[QuantityErrors, ...]:
    """Predict every row; `calibrations` replace those of the catalog. InputError names the file.

    With `fitted_on`, curves of that device alone are used, carried over by the peaks of each. With `leave_out`, rows
    of each value of that column, or of each of two random halves, are predicted by a fit on the others, and errors are
    broken down by that column.
    """
    used = calibrations if fitted_on is None else carried_over(fitted_on, calibrations)
    try:
        if leave_out is None:
            predictions = table.family.predict(table.columns, used)
        else:
            predictions = predict_left_out(table.family, table.columns, leave_out, used)
    except ValueError as error:
        raise InputError(str(table.path), "", str(error)) from None
    if fitted_on is not None:
        predictions = tuple(_seen_on(fitted_on, table, series) for series in predictions)
    measured = [series.measured for series in predictions]
    inputs = {
        name: column
        for name, column in table.columns.items()
        if not any(_is_same(column, values) for values in measured)
    }
    has_usual = leave_out in (None, HALVES)
    groups = [name for name in table.family.groups if name in table.columns] if has_usual else [str(leave_out)]
    return tuple(_quantity(table, series, inputs, groups) for series in predictions)


def _seen_on(fitted: Device, table: Measurements, series: Series) -> Series:
    """The series with rows of the fitted device alone as calibrated."""
    own = [name.lower() in (fitted.name, *fitted.aliases) for name in table.columns["device"].tolist()]
    return replace(series, is_calibrated=series.is_calibrated & np.asarray(own, dtype=np.bool_))


def curve_origins(table: Measurements, calibrations: Calibrations) -> list[tuple[Calibration, dict[str, FitOrigin]]]:
    """Calibrations of the table's kind for its devices and those that they are like, with the origins of curves."""
    devices = np.unique(table.columns["device"]).tolist() if "device" in table.columns else []
    names = {name for device in devices for name in load_device(device).ancestry}
    return [
        (part, part.origins.get(table.kind, {}))
        for part in calibrations
        if part.device in names and table.kind in part.families
    ]


def carried_to(table: Measurements, calibrations: Calibrations | None) -> list[tuple[str, str]]:
    """Devices of the table without a curve of its kind, and the nearest that they are like with one, or ""."""
    if table.family.fit is None or "device" not in table.columns:
        return []
    fitted = {part.device for part in calibrations or load_calibrations() if table.kind in part.families}
    devices = (load_device(name) for name in np.unique(table.columns["device"]).tolist())
    places = {each.name: next((name for name in each.ancestry if name in fitted), "") for each in devices}
    return [(device, place) for device, place in places.items() if place != device]


def group_labels(table: Measurements) -> NDArray[np.str_]:
    """The group of each row, shape (N,)."""
    return _labels(table, [name for name in table.family.groups if name in table.columns])


def _labels(table: Measurements, names: Sequence[str]) -> NDArray[np.str_]:
    columns = [_cells(table, name) for name in names]
    if not columns:
        return np.full(len(table), "all")
    return np.asarray([" ".join(cells) for cells in zip(*columns, strict=True)], dtype=np.str_)


def row_record(table: Measurements, quantity: QuantityErrors, row: int) -> dict[str, Any]:
    """Line, inputs, measurement, prediction and error of one row; what was left out is None."""
    series = quantity.series
    return {
        "line": int(table.lines[row]),
        **{name: _finite(column[row].item()) for name, column in quantity.inputs.items()},
        "measured": _finite(float(series.measured[row])),
        "predicted": _finite(float(series.predicted[row])),
        "relative_error": _finite(float(quantity.error[row])),
        "calibrated": bool(series.is_calibrated[row]),
    }


def to_record(table: Measurements, quantity: QuantityErrors, *, num_worst: int, with_rows: bool) -> dict[str, Any]:
    """All that is known of one quantity, as JSON."""
    series = quantity.series
    record: dict[str, Any] = {
        "quantity": series.quantity,
        "unit": series.unit,
        "rows": len(table) - quantity.num_left_out,
        "left_out": quantity.num_left_out,
        "left_out_reason": quantity.why_left_out or None,
        **({"note": series.note} if series.note else {}),
        "all": asdict(quantity.all) if quantity.all else None,
        "rank_correlation": quantity.rank_correlation,
        "groups": [{"group": group.key, **asdict(group.errors)} for group in quantity.groups],
        "worst": [row_record(table, quantity, row) for row in quantity.worst(num_worst)],
    }
    if with_rows:
        record["predictions"] = [row_record(table, quantity, row) for row in range(len(table))]
    return record


def _quantity(table: Measurements, series: Series, inputs: Table, groups: Sequence[str]) -> QuantityErrors:
    error = relative_error(series.predicted, series.measured)
    is_kept = np.isfinite(error)
    ranks = rank_correlation(series.predicted[is_kept], series.measured[is_kept]) if is_kept.any() else None
    return QuantityErrors(
        series, inputs, error, errors_of(error, series.is_calibrated), _groups(table, series, error, groups), ranks
    )


def _groups(table: Measurements, series: Series, error: Floats, names: Sequence[str]) -> tuple[ErrorGroup, ...]:
    if not names:
        return ()
    labels = _labels(table, names)
    found: list[tuple[list[Any], ErrorGroup]] = []
    for label in np.unique(labels):
        is_in = labels == label
        errors = errors_of(np.where(is_in, error, np.nan), series.is_calibrated)
        if errors is not None:
            row = int(np.flatnonzero(is_in)[0])
            values = [table.columns[name][row].item() for name in names]
            key = {name: _cells(table, name, row)[0] for name in names}
            found.append((values, ErrorGroup(key, errors)))
    return tuple(group for _, group in sorted(found, key=lambda each: tuple(each[0])))


def _is_same(column: NDArray[Any], measured: Floats) -> bool:
    return column.dtype.kind == "f" and np.array_equal(column, measured, equal_nan=True)


def _cells(table: Measurements, name: str, row: int | None = None) -> list[str]:
    column = table.columns[name] if row is None else table.columns[name][row : row + 1]
    return [f"{value:g}" if isinstance(value, float) else str(value) for value in column.tolist()]


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not np.isfinite(value) else value

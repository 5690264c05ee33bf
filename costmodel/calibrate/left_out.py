"""Rows of each value of a column, or of random halves, predicted by a fit on all other rows: errors on unseen rows."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from costmodel.calibrate.family import Bools, Calibrations, Family, Fit, Series, Table
from costmodel.calibrate.parts import parts_of
from costmodel.pricing.calibration import load_calibrations, without_family

HALVES = "halves"
"""in place of a column: each half of the rows by a fit on the other"""


def predict_left_out(
    family: Family, table: Table, column: str, calibrations: Calibrations | None = None
) -> tuple[Series, ...]:
    """Predictions of all rows, each by numbers fitted without the rows that share its value of `column`.

    No number that the catalog, or `calibrations` in its place, holds of this family is used. ValueError where the
    column has one value, nothing is fitted to the family, or the other rows are too few.
    """
    if family.fit is None:
        raise ValueError(f"nothing is fitted to tables of kind {family.name}, so that nothing can be left out")
    others = without_family(family.name, load_calibrations() if calibrations is None else calibrations)
    found: list[tuple[Bools, tuple[Series, ...]]] = []
    for is_out in _parts(table, column):
        fitted = family.fit(_rows(table, ~is_out))
        used = (*_fitted_parts(family.name, fitted), *others)
        found.append((is_out, family.predict(_rows(table, is_out), used)))
    return tuple(_joined([(is_out, series[number]) for is_out, series in found]) for number in range(len(found[0][1])))


def _parts(table: Table, column: str) -> Iterator[Bools]:
    """Rows of each value, shape (N,)."""
    if column == HALVES:
        first = np.random.default_rng(0).permutation(len(next(iter(table.values())))) % 2 == 0
        return iter((first, ~first))
    values = np.unique(table[column])
    if len(values) < 2:
        raise ValueError(f"column '{column}' has one value, {values[0]}: without its rows there is nothing to fit")
    return (table[column] == value for value in values)


def _fitted_parts(family: str, fitted: Fit) -> Calibrations:
    return tuple(parts_of({family: fitted}).values())


def _joined(parts: list[tuple[Bools, Series]]) -> Series:
    """Series of parts of a table as one of the whole table."""
    first = parts[0][1]
    size = len(parts[0][0])
    predicted, measured, is_calibrated = np.full(size, np.nan), np.full(size, np.nan), np.zeros(size, dtype=np.bool_)
    for rows, series in parts:
        predicted[rows], measured[rows], is_calibrated[rows] = series.predicted, series.measured, series.is_calibrated
    left_out = next((series.left_out for _, series in parts if series.left_out), "")
    return replace(first, predicted=predicted, measured=measured, is_calibrated=is_calibrated, left_out=left_out)


def _rows(table: Table, rows: Bools) -> Table:
    return {name: column[rows] for name, column in table.items()}

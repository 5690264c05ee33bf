"""What rows of a table ask of the curves that predict them, and where that lies outside what these were fitted on."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from costmodel.calibrate.family import AskedSizes, Bools, Calibrations, Family, Table
from costmodel.hardware.device import load_device
from costmodel.pricing.calibration import Ranges, curve_source
from costmodel.pricing.fit_ranges import Far, farthest


@dataclass(frozen=True)
class RowsOutside:
    """Rows of a table that ask more, or less, of one curve than its fit saw."""

    fitted_on: str
    """device"""
    variant: str
    rows: int
    """of those that the curve predicts, so many are outside"""
    far: tuple[Far, ...]


def ranges_of(asked: Iterable[AskedSizes]) -> dict[tuple[str, str], Ranges]:
    """Least and most of what rows ask for, by device and variant of their curve."""
    found: dict[tuple[str, str], Ranges] = {}
    for each in asked:
        ranges = found.setdefault((each.device, each.variant), {})
        for name, column in each.columns.items():
            if each.rows.any():
                own = float(column[each.rows].min()), float(column[each.rows].max())
                low, high = ranges.get(name, own)
                ranges[name] = min(low, own[0]), max(high, own[1])
    return found


def rows_outside(family: Family, table: Table, calibrations: Calibrations | None = None) -> tuple[RowsOutside, ...]:
    """By curve, those that its recorded ranges do not hold; none where nothing is recorded."""
    asked: dict[tuple[str, str], list[AskedSizes]] = {}
    known: dict[tuple[str, str], Ranges] = {}
    for each in () if family.asked is None else family.asked(table):
        source = curve_source(load_device(each.device), family.name, each.variant, calibrations)
        if source is not None and source[1] is not None and source[1].ranges:
            key = source[0], each.variant
            known[key] = source[1].ranges
            asked.setdefault(key, []).append(each)
    found = []
    for key, parts in asked.items():
        if count := sum(int((each.rows & _is_outside(each, known[key])).sum()) for each in parts):
            spans = ranges_of(AskedSizes(*key, each.rows, each.columns) for each in parts)[key]
            found.append(RowsOutside(*key, count, tuple(farthest(known[key], spans))))
    return tuple(found)


def _is_outside(asked: AskedSizes, ranges: Ranges) -> Bools:
    outside = np.zeros(len(asked.rows), dtype=np.bool_)
    for name, (low, high) in ranges.items():
        if name in asked.columns:
            outside |= ~((asked.columns[name] >= low) & (asked.columns[name] <= high))
    return outside

"""What `planner validate` and `planner calibrate` know of a table: its columns, its model and its fit."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costmodel.pricing.calibration import Calibration, Numbers, Ranges

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Table = Mapping[str, NDArray[Any]]
"""columns of shape (N,): float64, or str for names"""
Calibrations = tuple[Calibration, ...]


@dataclass(frozen=True)
class Series:
    """Predictions of one quantity, columns of shape (N,) row for row with the table.

    NaN in `predicted` says that the row was left out, and `left_out` why.
    """

    quantity: str
    """such as "latency", "time per output token", "peak memory" """
    unit: str
    """of both columns, as in the table"""
    predicted: Floats
    measured: Floats
    is_calibrated: Bools
    """whether the row's curve was fitted on its very device; in serving, whether its pair of model and backend was, on
    this device or one that it is like"""
    left_out: str = ""
    note: str = ""
    """what else is known of them as a whole"""


@dataclass(frozen=True)
class Fit:
    """Curves fitted on a table: (device, variant) -> numbers, and the mean absolute relative error of each."""

    curves: dict[tuple[str, str], Numbers]
    mean_error: dict[tuple[str, str], float]
    rows: dict[tuple[str, str], int] = field(default_factory=dict)
    free: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    """names of the numbers that the rows decided; of a curve without an entry, all"""
    ranges: dict[tuple[str, str], Ranges] = field(default_factory=dict)
    """least and most of what the rows asked for, by name"""


@dataclass(frozen=True)
class AskedSizes:
    """What rows of a table ask of one curve; columns of shape (N,), of the whole table."""

    device: str
    variant: str
    """of the curve"""
    rows: Bools
    """(N,): those that the curve predicts"""
    columns: Mapping[str, Floats]
    """by names of ranges of fits"""


@dataclass(frozen=True)
class Ablation:
    """Mean absolute relative error without one term of a curve, refitted, on rows that were not fitted."""

    device: str
    variant: str
    term: str
    """"" for the full curve, else the term left out"""
    num_parameters: int
    mean_error: float


@dataclass(frozen=True)
class Family:
    """One kind of table."""

    name: str
    columns: tuple[str, ...]
    """columns a table must have, those of numbers and of names"""
    names: tuple[str, ...]
    """those of `columns` that hold names"""
    groups: tuple[str, ...]
    """columns by which errors are broken down"""
    predict: Callable[[Table, Calibrations | None], tuple[Series, ...]]
    """ValueError names a device or precision that the catalog lacks"""
    fit: Callable[[Table], Fit] | None = None
    ablations: Callable[[Table], tuple[Ablation, ...]] | None = None
    """fits on half of the rows and judges on the other half"""
    optional: tuple[str, ...] = ()
    """columns read where they are present"""
    blank: tuple[str, ...] = ()
    """those of `columns` that a row may leave blank"""
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """least and most of columns of numbers beyond which nothing was measured"""
    asked: Callable[[Table], Iterable[AskedSizes]] | None = None
    """what rows ask of curves; ValueError as of `predict`"""

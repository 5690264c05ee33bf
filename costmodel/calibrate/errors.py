"""How far predictions are from measurements: relative errors in a few figures."""

from dataclasses import dataclass

import numpy as np

from costmodel.calibrate.family import Bools, Floats


@dataclass(frozen=True)
class Errors:
    """Relative errors (predicted - measured) / measured of some rows."""

    rows: int
    calibrated_rows: int
    """rows whose curve was fitted on their very device"""
    mean: float
    """of absolute values, as are the next three"""
    median: float
    p90: float
    """nine rows in ten have a smaller one"""
    worst: float
    bias: float
    """signed mean: above 0 where predictions are too long"""


def relative_error(predicted: Floats, measured: Floats) -> Floats:
    """Signed relative error, shape (N,); NaN for rows left out and for measurements that are not above 0."""
    error = np.full(len(measured), np.nan)
    is_kept = np.isfinite(predicted) & np.isfinite(measured) & (np.nan_to_num(measured) > 0)
    error[is_kept] = predicted[is_kept] / measured[is_kept] - 1.0
    return error


def errors_of(error: Floats, is_calibrated: Bools) -> Errors | None:
    """Figures of the rows that have an error; None where none has."""
    is_kept = np.isfinite(error)
    if not is_kept.any():
        return None
    kept = error[is_kept]
    size = np.abs(kept)
    return Errors(
        rows=len(kept),
        calibrated_rows=int(is_calibrated[is_kept].sum()),
        mean=float(size.mean()),
        median=float(np.median(size)),
        p90=float(np.quantile(size, 0.9)),
        worst=float(size.max()),
        bias=float(kept.mean()),
    )


def rank_correlation(predicted: Floats, measured: Floats) -> float | None:
    """Spearman's rank correlation, equal values sharing their mean rank; None for fewer than two different values."""
    first, second = _ranks(predicted), _ranks(measured)
    first, second = first - first.mean(), second - second.mean()
    scale = float(np.sqrt((first @ first) * (second @ second)))
    return float(first @ second) / scale if scale > 0 else None


def _ranks(values: Floats) -> Floats:
    _, index, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks: Floats = (last - (counts - 1) / 2.0)[index]
    return ranks

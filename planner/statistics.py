"""Means of independent replications with intervals, and the control variate that narrows them.

Quantiles of Student's t are expanded here: scipy, which has them, is no part of a plain install.
"""

from dataclasses import dataclass
from math import pi, sqrt, tan
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """A mean and half the width of its 95 % interval, arrays of shape (measures,)."""

    mean: Floats
    half_width: Floats


def estimate(samples: Floats) -> Estimate:
    """Of independent replications, shape (replications, measures)."""
    freedom = _freedom(samples, 1)
    error = samples.std(axis=0, ddof=1) / np.sqrt(len(samples))
    return Estimate(samples.mean(axis=0), student_quantile(freedom) * error)


def controlled(samples: Floats, control: Floats, exact: Floats) -> Estimate:
    """Of replications beside a control that saw the same random numbers and whose `exact` mean is known.

    The regression on the control removes what both share (Lavenberg and Welch 1981), measure by measure; samples and
    control have the shape (replications, measures).
    """
    freedom = _freedom(samples, 2)
    apart, around = control - control.mean(axis=0), samples - samples.mean(axis=0)
    spread = (apart**2).sum(axis=0)
    slope = np.divide((apart * around).sum(axis=0), spread, out=np.zeros_like(spread), where=spread > 0)
    offset = exact - control.mean(axis=0)
    variance = ((around - slope * apart) ** 2).sum(axis=0) / freedom
    scale = 1 / len(samples) + np.divide(offset**2, spread, out=np.zeros_like(spread), where=spread > 0)
    return Estimate(samples.mean(axis=0) + slope * offset, student_quantile(freedom) * np.sqrt(variance * scale))


def student_quantile(freedom: int, probability: float = 0.975) -> float:
    """Quantile of Student's t: exact to 2 degrees of freedom, else by the expansion in 1 / freedom, right to 0.2 %."""
    if freedom == 1:
        return tan(pi * (probability - 0.5))
    if freedom == 2:
        return (2 * probability - 1) / sqrt(2 * probability * (1 - probability))
    z, n = NormalDist().inv_cdf(probability), freedom
    return float(
        z
        + (z**3 + z) / (4 * n)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * n**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * n**3)
        + (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / (92160 * n**4)
    )


def _freedom(samples: Floats, fitted: int) -> int:
    if len(samples) <= fitted:
        raise ValueError(f"seeds: {len(samples)} replications are too few for an interval; take {fitted + 1} or more")
    return len(samples) - fitted

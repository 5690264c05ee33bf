"""Shapes that several kernel families share: a smooth maximum, and work handed out in waves."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def p_norm(a: ArrayLike, b: ArrayLike, p: ArrayLike) -> Floats:
    """Smooth maximum (a^p + b^p)^(1/p) of two columns >= 0: a + b at p = 1, the larger one as p grows.

    Time of two activities that overlap in part, e.g. arithmetic and traffic. The arguments broadcast; p >= 1.
    """
    x, y, power = (np.asarray(value, dtype=np.float64) for value in (a, b, p))
    larger, smaller = np.maximum(x, y), np.minimum(x, y)
    ratio = smaller / np.where(larger > 0, larger, 1.0)
    return np.asarray(larger * (1.0 + ratio**power) ** (1.0 / power))


def waves(x: ArrayLike, a: ArrayLike) -> Floats:
    """Rounds of equal tiles, where x is their number over that of units that run one at a time.

    One round for x <= 1, then a ceil(x) + (1 - a) x: a = 1 where rounds are in step, so that a last round that is
    nearly empty lasts as long as a full one; a = 0 where tiles are spread evenly.
    """
    rounds, share = np.asarray(x, dtype=np.float64), np.asarray(a, dtype=np.float64)
    return np.asarray(np.where(rounds > 1.0, share * np.ceil(rounds) + (1.0 - share) * rounds, 1.0))

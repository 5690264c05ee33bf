"""Where a function of the message changes its sign."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
HALVINGS = 60
"""of an interval: more than the digits of a number"""


def crossings(gap: Callable[[Floats], Floats], messages_bytes: Floats) -> Floats:
    """Roots of a continuous function between neighbours of an ascending sweep (S,), by bisection, ascending.

    Two roots between the same neighbours are not seen.
    """
    is_positive = gap(messages_bytes) > 0
    at = np.flatnonzero(is_positive[1:] != is_positive[:-1])
    low, high, sign = messages_bytes[at], messages_bytes[at + 1], is_positive[at]
    for _ in range(HALVINGS):
        middle = np.sqrt(low * high)
        is_before = (gap(middle) > 0) == sign
        low, high = np.where(is_before, middle, low), np.where(is_before, high, middle)
    return np.sqrt(low * high)

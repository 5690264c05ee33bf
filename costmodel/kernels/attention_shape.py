"""Sizes of attention as columns, checked."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def columns(**sizes: ArrayLike) -> tuple[Floats, ...]:
    """Sizes as float64 arrays, in order; all must be above 0, `cached` 0 or above, and finite."""
    found = []
    for name, size in sizes.items():
        column = np.asarray(size, dtype=np.float64)
        is_good = np.isfinite(column) & ((column >= 0) if name == "cached" else (column > 0))
        if not is_good.all():
            wrong = float(column[~is_good].flat[0])
            raise ValueError(f"{name} of attention is {wrong:g}; give {'0 or more' if name == 'cached' else 'above 0'}")
        found.append(column)
    return tuple(found)

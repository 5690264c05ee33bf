"""How many pairs of a placed group share a tray, share a rack, or share neither, and their mean energy."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from costmodel.hardware.routes.parts import RouteParts

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class PairCounts:
    """Unordered pairs by the route between them; each of shape (G,) for G groups."""

    tray: Ints
    rack: Ints
    """in one rack, in different trays"""
    inter_rack: Ints


def pair_counts(per_tray: ArrayLike, rack_of_tray: ArrayLike) -> PairCounts:
    """Pairs of each group: per_tray of shape (G, T) or (T,) holds its accelerators on each tray.

    rack_of_tray of shape (T,) numbers the rack of each tray from 0.
    """
    counts, racks = np.atleast_2d(np.asarray(per_tray, np.int64)), np.asarray(rack_of_tray, np.int64)
    if racks.shape != counts.shape[-1:]:
        raise ValueError(f"rack_of_tray: has shape {racks.shape}, not one rack for each of {counts.shape[-1]} trays")
    if np.any(counts < 0) or np.any(racks < 0):
        raise ValueError("per_tray, rack_of_tray: hold a negative number; count accelerators and number racks from 0")
    in_rack = racks[:, None] == np.arange(racks.max(initial=0) + 1)
    tray = _pairs(counts).sum(axis=-1)
    rack = _pairs(counts @ in_rack.astype(np.int64)).sum(axis=-1)
    return PairCounts(tray=tray, rack=rack - tray, inter_rack=_pairs(counts.sum(axis=-1)) - rack)


def _pairs(count: Ints) -> Ints:
    """Unordered pairs of so many."""
    return count * (count - 1) // 2


def packed(accelerators: ArrayLike, per_tray: int, per_rack: int) -> tuple[Ints, Ints]:
    """Groups of shape (G,) that fill tray after tray and rack after rack: per_tray (G, T), rack_of_tray (T,)."""
    sizes = np.atleast_1d(np.asarray(accelerators, np.int64))
    if per_tray < 1 or per_rack < per_tray or per_rack % per_tray:
        raise ValueError(f"per_rack: {per_rack} is no multiple of {per_tray} accelerators on a tray")
    trays = np.arange(-(-int(sizes.max(initial=1)) // per_tray))
    counts = np.clip(sizes[:, None] - trays * per_tray, 0, per_tray)
    return counts, trays // (per_rack // per_tray)


def mean_pair_j_per_byte(parts: RouteParts, counts: PairCounts) -> Floats:
    """Energy of a byte, the mean over all pairs of each group, of shape (G,); 0 for a group of one."""
    total = counts.tray + counts.rack + counts.inter_rack
    sums = (
        counts.tray * parts.j_per_byte("tray")
        + counts.rack * parts.j_per_byte("rack")
        + counts.inter_rack * parts.j_per_byte("inter_rack")
    )
    return np.asarray(sums / np.maximum(total, 1), np.float64)

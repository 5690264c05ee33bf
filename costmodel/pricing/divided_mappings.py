"""Mappings that fit in memory under each split of the I/O, and the degrees that they have: what splits share is found
once."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from costmodel.fabrics import Split
from costmodel.parallelism.mappings import Mappings, distinct_rows
from costmodel.pricing.layouts import Key
from costmodel.workloads import Workload

Ints = NDArray[np.integer[Any]]
Bools = NDArray[np.bool_]
CHUNK = 1 << 14
"""mappings looked at together: their columns stay in the cache"""


@dataclass(frozen=True)
class DividedMappings:
    """Mappings that fit under some split, shape (M,), and what is asked of them under each."""

    mappings: Mappings
    fits: Bools
    """under each split, shape (splits, M)"""
    keys: Sequence[Key]
    """degrees and devices, once each"""
    key: Ints
    """of each mapping its number among `keys`"""

    @classmethod
    def of(cls, workload: Workload, mappings: Mappings, splits: Sequence[Split]) -> Self:
        """Of all mappings of a workload."""
        fits = _fitting(workload, mappings, splits)
        rows = np.flatnonzero(fits.any(axis=0))
        some = mappings.take(rows)
        degrees = group_degrees(some)
        first, key = distinct_rows([*degrees, some.num_devices])
        keys = zip(map(tuple, degrees[:, first].T.tolist()), some.num_devices[first].tolist(), strict=True)
        return cls(some, fits[:, rows], list(keys), key)

    def under(self, split: int) -> tuple[Ints, list[Key], Ints]:
        """Mappings that fit under a split, the keys that these have, and of each of them the number of its key."""
        rows = np.flatnonzero(self.fits[split])
        key = self.key[rows]
        used = np.flatnonzero(np.bincount(key, minlength=len(self.keys)))
        place = np.zeros(len(self.keys), np.intp)
        place[used] = np.arange(len(used))
        return rows, [self.keys[number] for number in used.tolist()], place[key]


def group_degrees(mappings: Mappings) -> Ints:
    """Ranks of the groups along each dimension, and of two pools the replicas of prompts and the degrees of their own,
    shape (8, M): context ranks share a data group, and with degrees of their own it has one rank of each replica here.
    """
    columns = [mappings.tensor, mappings.pipeline, mappings.data * mappings.context.astype(np.int32)]
    columns += [mappings.context, mappings.expert, mappings.prefill, mappings.prefill_tensor, mappings.prefill_expert]
    return np.stack([column.astype(np.int32) for column in columns])


def _fitting(workload: Workload, mappings: Mappings, splits: Sequence[Split]) -> Bools:
    """Which mappings fit in memory under each split, shape (splits, M)."""
    fits = np.empty((len(splits), len(mappings)), np.bool_)
    for start in range(0, len(mappings), CHUNK):
        rows = slice(start, start + CHUNK)
        some = mappings.take(rows)
        local_bytes, tier_bytes = workload.footprint(some)
        for mine, split in zip(fits, splits, strict=True):
            device = split.device
            mine[rows] = (local_bytes <= device.capacity_bytes) & (tier_bytes <= device.tier_capacity_bytes)
            if split.second_tiers:
                mine[rows] &= some.offload > 0
    return fits

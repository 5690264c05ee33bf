"""Circuits of all groups along one dimension: shapes with the same plan on the same groups share them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from weakref import WeakValueDictionary

import numpy as np

from costmodel.fabrics import Circuits, GroupPlan
from costmodel.parallelism.degrees import Degrees
from costmodel.parallelism.mappings import Dimension
from planner.fabrics.circuits_between import Between


@dataclass(frozen=True, eq=False)
class Laid:
    """A plan on groups of ranks, configuration by configuration."""

    circuits: tuple[Circuits, ...]
    """(source rank, destination rank, wavelengths)"""
    offsets: tuple[tuple[int, ...], ...]
    """first wavelength of each circuit"""
    _between: dict[tuple[int, int], tuple[Between, ...]] = field(default_factory=dict)
    """by ranks of a block and number of blocks"""

    def between(self, block: int, num_blocks: int) -> tuple[Between, ...]:
        """Wavelengths from block to block in each configuration, the ranks in blocks of so many."""
        key = block, num_blocks
        if key not in self._between:
            self._between[key] = tuple(Between.of(circuits, block, num_blocks) for circuits in self.circuits)
        return self._between[key]


MOST_GROUPS = 256
"""degrees and dimensions of which the groups are remembered"""
_known: WeakValueDictionary[tuple[GroupPlan, int, bytes], Laid] = WeakValueDictionary()
"""by plan and groups, as long as a shape keeps them"""


@lru_cache(maxsize=MOST_GROUPS)
def _groups(degrees: Degrees, dimension: Dimension) -> tuple[int, bytes]:
    """Number of the groups along a dimension, and their ranks one after the other."""
    groups = degrees.groups(dimension)
    return len(groups), groups.tobytes()


def laid(plan: GroupPlan, degrees: Degrees, dimension: Dimension) -> Laid:
    """A plan on each group along a dimension."""
    key = plan, *_groups(degrees, dimension)
    found = _known.get(key)
    if found is None:
        _, number, ranks = key
        rows = np.frombuffer(ranks, dtype=np.int64).reshape(number, -1).tolist()
        circuits = (tuple((g[u], g[v], width) for g in rows for u, v, width in each) for each in plan.configurations())
        found = Laid(tuple(circuits), tuple(each * len(rows) for each in plan.offsets()))
        found = _known.setdefault(key, found)
    return found


def at_once(each: Sequence[Laid]) -> Laid:
    """Circuits of several, that are on together: where these are not one, each has one configuration."""
    if len(each) == 1:
        return each[0]
    circuits = tuple(circuit for found in each for circuit in found.circuits[0])
    return Laid((circuits,), (tuple(offset for found in each for offset in found.offsets[0]),))

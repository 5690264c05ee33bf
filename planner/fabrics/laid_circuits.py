"""Circuits of all groups along one dimension: shapes with the same plan on the same groups share them."""

from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from costmodel.fabrics import Circuits, GroupPlan


@dataclass(frozen=True, eq=False)
class Laid:
    """A plan on groups of ranks, configuration by configuration."""

    circuits: tuple[Circuits, ...]
    """(source rank, destination rank, wavelengths)"""
    offsets: tuple[tuple[int, ...], ...]
    """first wavelength of each circuit"""


_known: WeakValueDictionary[tuple[GroupPlan, int, bytes], Laid] = WeakValueDictionary()
"""by plan and groups, as long as a shape keeps them"""


def laid(plan: GroupPlan, groups: NDArray[np.int64]) -> Laid:
    """A plan on each of these groups, shape (groups, ranks of the plan)."""
    key = plan, len(groups), groups.tobytes()
    found = _known.get(key)
    if found is None:
        rows = groups.tolist()
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

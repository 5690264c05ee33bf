"""Racks and links between them of the plans that candidates index, found once for all tables of the same plans."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from costmodel.fabrics import GroupPlan, links_of, racks_of
from costmodel.pricing.recently import Recently


class PlanRacks(NamedTuple):
    """Columns of shape (plans,)."""

    racks: NDArray[np.int64]
    """in which a group with the plan lies"""
    links: NDArray[np.int64]
    """that its job holds of every part of the upper layer"""

    @classmethod
    def of(cls, plans: tuple[GroupPlan, ...]) -> "PlanRacks":
        """Remembered by the identity of the plans, which are kept beside their columns."""
        return _RECENT.of(id(plans), lambda: (plans, cls._of(plans)))[1]

    @classmethod
    def _of(cls, plans: tuple[GroupPlan, ...]) -> "PlanRacks":
        return cls(np.array([*map(racks_of, plans)], np.int64), np.array([*map(links_of, plans)], np.int64))


_RECENT = Recently[int, tuple[tuple[GroupPlan, ...], PlanRacks]](64)

"""Rows that no servers of a pool have uplinks for, whatever else runs."""

import numpy as np
from numpy.typing import NDArray

from costmodel.fabrics import Sipam
from costmodel.pricing.candidates import Candidates
from planner.fabrics.sipam.demand import asked_across, held_of_rank

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]


def fewest_servers(candidates: Candidates, accelerators: int, units: int) -> Ints:
    """Servers in each rack that a row surely needs, shape (C,); `accelerators`, `units`: of the largest server."""
    ranks = candidates.num_devices.astype(np.int64)
    asked = ((ranks, accelerators), (ranks * held_of_rank(candidates)[0], units))
    return np.asarray(np.maximum(*(-(-each // candidates.racks // max(most, 1)) for each, most in asked)))


def are_placeable(candidates: Candidates, fabric: Sipam) -> Bools:
    """False for rows that need several servers of a rack, in each of which more uplinks of a rail, or more spine rails,
    than a server has where nothing has failed; shape (C,)."""
    found = np.ones(len(candidates), np.bool_)
    units = fabric.trays_per_server * fabric.units_per_tray
    over = np.flatnonzero(fewest_servers(candidates, fabric.devices_per_server, units) > 1)
    rails, uplinks = asked_across(candidates.take(over))
    found[over] = (rails == 0) | ((rails <= fabric.spine_rails) & (uplinks <= fabric.uplinks))
    return found

"""Candidates that can still matter where devices share memory nodes."""

import numpy as np

from costmodel.fabrics import MemoryNodeRings
from planner.fabrics.dominance import AskedOfRows, Dominance, Ints
from planner.fabrics.problem import JobOptions
from planner.model.cluster import Cluster
from planner.model.instance import Instance


class MemoryRingDominance(Dominance):
    """A row that replaces another one takes no more DIMMs, and some server has room for each part."""

    def kept_rows(self, options: JobOptions, instance: Instance) -> Ints:
        """Without those of which no server holds a part; all of them where no row is left, so that it can be said why
        the job is out."""
        rows = super().kept_rows(options, instance)
        fabric = instance.cluster.fabric
        assert isinstance(fabric, MemoryNodeRings)
        if not fabric.shared_nodes:
            return rows
        shapes, of = options.shapes.distinct
        held = [most_ranks(fabric, shape.held_units // 2) >= shape.part for shape in shapes]
        fits = np.array(held, np.bool_)[of[rows]] | (rows == options.current)
        return rows[fits] if fits.any() else rows

    def asked(self, options: JobOptions, cluster: Cluster) -> AskedOfRows:
        return super().asked(options, cluster).beside(options, lambda demand: (demand.held_units,))


def most_ranks(fabric: MemoryNodeRings, each_side: int) -> int:
    """Ranks with so many DIMMs of the node on either side that a server holds at most: neighbours share a node."""
    if each_side == 0 or 2 * each_side <= fabric.node_dimms:
        return fabric.devices_per_server
    return fabric.devices_per_server // 2 if each_side <= fabric.node_dimms else 0

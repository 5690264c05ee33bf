"""Candidates that can still matter on slices."""

from planner.fabrics.dominance import AskedOfRows, Dominance
from planner.fabrics.problem import JobOptions
from planner.model.cluster import Cluster


class SlicedDominance(Dominance):
    """A placement depends on the extent of slices, and on how many one server takes together."""

    def asked(self, options: JobOptions, cluster: Cluster) -> AskedOfRows:
        return AskedOfRows.of_demands(
            options, lambda demand: ((demand.num_ranks, demand.cut, demand.racks), (demand.part, demand.links))
        )

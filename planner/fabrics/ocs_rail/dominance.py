"""Candidates that can still matter on rails."""

from collections.abc import Callable

from planner.fabrics.demand import Demand
from planner.fabrics.dominance import Asked, Dominance
from planner.fabrics.ocs_rail.rails import FreeRails
from planner.fabrics.problem import JobOptions
from planner.model.cluster import Cluster


class RailDominance(Dominance):
    """On rails a placement depends on numbers of ports alone."""

    def asking(self, options: JobOptions, cluster: Cluster) -> Callable[[Demand], Asked]:
        """Nothing, any rails, or rails with more working switches than the fewest."""
        fewest = FreeRails(cluster).fewest

        def asked(demand: Demand) -> Asked:
            return (demand.num_ranks, demand.block), (min(demand.num_ports, 1), max(demand.num_ports - fewest, 0))

        return asked

"""Candidates that can still matter where accelerators share appliances."""

from collections.abc import Callable

from planner.fabrics.demand import Demand
from planner.fabrics.divided_ports.free_shares import FreeShares
from planner.fabrics.dominance import Asked, Dominance
from planner.fabrics.problem import JobOptions
from planner.model.cluster import Cluster


class SharedDominance(Dominance):
    """Of shared appliances a row that replaces another one takes no more."""

    def asking(self, options: JobOptions, cluster: Cluster) -> Callable[[Demand], Asked]:
        is_shared = bool(FreeShares.of(cluster).modules)

        def asked(demand: Demand) -> Asked:
            amounts = (demand.held_units, demand.held_io) if is_shared else ()
            return (demand.num_ranks, demand.block), amounts

        return asked

"""Candidates that can still matter where accelerators share appliances."""

from collections.abc import Callable

import numpy as np

from planner.fabrics.demand import Demand
from planner.fabrics.divided_ports.demand import amounts_of
from planner.fabrics.divided_ports.free_shares import FreeShares
from planner.fabrics.dominance import Asked, Dominance, Ints
from planner.fabrics.problem import JobOptions
from planner.model.cluster import Cluster
from planner.model.instance import Instance


class SharedDominance(Dominance):
    """Of shared appliances a row that replaces another one takes no more, and some server has room for each part."""

    def kept_rows(self, options: JobOptions, instance: Instance) -> Ints:
        """Without those of which no server holds a part, such as 8 ranks that take 5 ports each of 32; all of them
        where no row is left, so that it can be said why the job is out."""
        rows = super().kept_rows(options, instance)
        shares, most = FreeShares.of(instance.cluster), instance.cluster.fabric.devices_per_server
        if not shares.are_any:
            return rows
        shapes, of = options.shapes.distinct
        held = [shares.room(shape, 0, most) >= shape.part for shape in shapes]
        fits = np.array(held, np.bool_)[of[rows]] | (rows == options.current)
        return rows[fits] if fits.any() else rows

    def asking(self, options: JobOptions, cluster: Cluster) -> Callable[[Demand], Asked]:
        is_shared = FreeShares.of(cluster).are_any

        def asked(demand: Demand) -> Asked:
            return (demand.num_ranks, demand.block), amounts_of(demand) if is_shared else ()

        return asked

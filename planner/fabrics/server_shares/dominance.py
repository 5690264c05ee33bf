"""Candidates that can still matter where accelerators share memory of their server."""

import numpy as np

from planner.fabrics.dominance import AskedOfRows, Dominance, Ints
from planner.fabrics.problem import JobOptions
from planner.fabrics.server_shares.demand import amounts_of
from planner.fabrics.server_shares.free_shares import FreeShares
from planner.model.cluster import Cluster
from planner.model.instance import Instance


class SharedDominance(Dominance):
    """Of what is shared a row that replaces another one takes no more, and some server has room for each part."""

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

    def asked(self, options: JobOptions, cluster: Cluster) -> AskedOfRows:
        alone, shares = super().asked(options, cluster), FreeShares.of(cluster)
        return alone.beside(options, lambda each: amounts_of(each)[: len(shares.free)]) if shares.are_any else alone

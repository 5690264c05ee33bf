"""Candidates that can still matter on rails."""

import numpy as np

from costmodel.fabrics.ocs_rail import ports_of
from costmodel.fabrics.turns import Turns, turn_of
from costmodel.parallelism.mappings import DIMENSIONS, distinct_rows
from costmodel.pricing.candidates import Candidates
from planner.fabrics.dominance import AskedOfRows, Dominance, Ints
from planner.fabrics.ocs_rail.rails import FreeRails
from planner.fabrics.problem import JobOptions
from planner.model.cluster import Cluster


class RailDominance(Dominance):
    """On rails a placement depends on numbers of ports alone."""

    def asked(self, options: JobOptions, cluster: Cluster) -> AskedOfRows:
        """Nothing, any rails, or rails with more working switches than the fewest: no demand is made for that."""
        c, ports = options.candidates, _ports(options.candidates)
        more = np.maximum(ports - FreeRails(cluster).fewest, 0)
        kind = np.asarray(distinct_rows([c.num_devices, c.block])[1], np.int64)
        return AskedOfRows(kind, np.array([np.minimum(ports, 1), more]))


def _ports(candidates: Candidates) -> Ints:
    """Ports that each row holds at once, as `Demand.num_ports`, shape (C,)."""
    by_axis = np.array([ports_of(plan) for plan in candidates.plans], np.int64)[candidates.plan]
    of_split = [_most_at_once(split.fabric.turns, by_axis) for split in candidates.splits]
    return np.asarray(np.array(of_split)[candidates.split, np.arange(len(candidates))])


def _most_at_once(turns: Turns, by_axis: Ints) -> Ints:
    """Of ports along DIMENSIONS, shape (5, C), those of the turn that needs most; all where there are no turns."""
    if not turns:
        return np.asarray(by_axis.sum(axis=0))
    axes = [[axis for axis, dimension in enumerate(DIMENSIONS) if turn_of(turns, dimension) == turn] for turn in turns]
    return np.asarray(np.max([by_axis[of_turn].sum(axis=0) for of_turn in axes], axis=0))

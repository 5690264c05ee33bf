"""Memory units, ports and uplinks, as amounts that jobs share."""

import numpy as np
from numpy.typing import NDArray

from costmodel.fabrics import Sipam
from planner.fabrics.problem import JobOptions, Problem
from planner.fabrics.shared_amounts import SharedAmounts
from planner.fabrics.sipam.demand import asked_across, held_of_rank
from planner.fabrics.sipam.free_pool import FreePool
from planner.fabrics.sipam.placeable import fewest_servers
from planner.model.cluster import Cluster

Floats = NDArray[np.float64]


class PoolAmounts(SharedAmounts):
    """Jobs share accelerators, memory and the uplinks of servers."""

    def are_any(self, cluster: Cluster) -> bool:
        return True

    def usage(self, problem: Problem) -> list[Floats]:
        """Accelerators, units, ports, units less ports, and uplinks, R = 5."""
        fabric = problem.cluster.fabric
        assert isinstance(fabric, Sipam)
        racks = FreePool(problem.cluster).racks
        units = sum(rack.num_units for rack in racks)
        ports = sum(rack.num_ports(rail) for rack in racks for rail in rack.ports)
        uplinks = sum(len(free) for rack in racks for free in rack.uplinks.values())
        devices = problem.cluster.num_healthy
        there_is = np.maximum([devices, units, ports, max(units - units / fabric.port_units, 1.0), uplinks], 1e-9)
        largest = (fabric.devices_per_server, max(rack.num_units for rack in racks))
        alike = {id(options.candidates): options for options in problem.options}
        table = {key: _of_job(options, largest) / there_is for key, options in alike.items()}
        return [table[id(options.candidates)] for options in problem.options]


def _of_job(options: JobOptions, largest: tuple[int, int]) -> Floats:
    """What the rows of a job use, shape (C, 5); `largest`: accelerators and units of the largest server.

    Where candidates are missing that need fewer uplinks than those here, none are charged, so that bounds hold for all.
    """
    candidates = options.candidates
    ranks = candidates.num_devices.astype(np.int64)
    units, ports = (ranks * each for each in held_of_rank(candidates))
    servers = fewest_servers(candidates, *largest)
    uplinks = np.zeros(len(ranks), np.int64)
    spans = np.flatnonzero((servers > 1) & options.is_listed)
    uplinks[spans] = (candidates.racks * servers)[spans] * np.prod(asked_across(candidates.take(spans)), axis=0)
    return np.stack([ranks, units, ports, units - ports, uplinks], axis=1).astype(np.float64)

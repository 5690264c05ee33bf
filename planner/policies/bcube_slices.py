"""Digit subcubes of a BCube: what server-centric clusters of small switches do."""

import time
from collections.abc import Sequence

from planner.fabrics import plugin_of
from planner.fabrics.problem import Problem
from planner.heuristics.greedy import place_all
from planner.heuristics.strategies import in_order
from planner.model.cluster import Cluster
from planner.model.result import Result, SolveOptions
from planner.policies.heuristic import heuristic_result
from planner.policies.slices import RackSlicing, place_on_slices
from planner.slices.allocator import all_ones
from planner.slices.digit_subcubes import DigitSubcubes, rounded_exponent

RADIX = 2


def bcube_slices(problem: Problem, options: SolveOptions) -> Result:
    """Jobs in arrival order on subcubes of binary digits, sizes rounded up to powers of two.

    Device i of a rack, counted server by server, has the binary digits of i; numbers beyond the last device belong
    to no slice. Where the fabric is a SiPAC, its own digits are used: each job with its most valuable candidate that
    fits, on the first free subcubes.
    """
    started, clock = time.perf_counter(), options.clock()
    is_own = plugin_of(problem.cluster.fabric).own_slices == "bcube_slices"
    cut = bcube_cut
    assignments = place_all(problem, in_order, clock=clock) if is_own else place_on_slices(problem, cut, clock)
    return heuristic_result("bcube_slices", problem, options, started, assignments)


def bcube_cut(cluster: Cluster, servers: Sequence[int]) -> RackSlicing:
    devices = tuple((server, slot) for server in servers for slot in range(cluster.fabric.devices_per_server))
    digits = rounded_exponent(RADIX, len(devices))
    beyond = all_ones(RADIX**digits) ^ all_ones(len(devices))
    return RackSlicing(devices, lambda taken: DigitSubcubes(RADIX, digits, taken | beyond))

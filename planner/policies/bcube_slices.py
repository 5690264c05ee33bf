"""Digit subcubes of a BCube: what server-centric clusters of small switches do."""

import time
from collections.abc import Sequence

from planner.cluster import Cluster
from planner.policies.heuristic import heuristic_result
from planner.policies.slices import Cut, place_on_slices
from planner.problem import Problem
from planner.result import Result, SolveOptions
from planner.slices.allocator import all_ones
from planner.slices.digit_subcubes import DigitSubcubes, rounded_exponent

RADIX = 2


def bcube_slices(problem: Problem, options: SolveOptions) -> Result:
    """Jobs in arrival order on subcubes of binary digits, sizes rounded up to powers of two.

    Device i of a rack, counted server by server, has the binary digits of i; numbers beyond the last device belong
    to no slice.
    """
    started = time.perf_counter()
    return heuristic_result("bcube_slices", problem, options, started, place_on_slices(problem, _bcube))


def _bcube(cluster: Cluster, servers: Sequence[int]) -> Cut:
    devices = tuple((server, slot) for server in servers for slot in range(cluster.fabric.devices_per_server))
    digits = rounded_exponent(RADIX, len(devices))
    beyond = all_ones(RADIX**digits) ^ all_ones(len(devices))
    return Cut(devices, lambda taken: DigitSubcubes(RADIX, digits, taken | beyond))

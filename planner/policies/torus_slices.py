"""Boxes of a torus: what clusters with a fixed three-dimensional torus do."""

import time
from collections.abc import Sequence
from itertools import product
from math import prod

from planner.fabrics import plugin_of
from planner.fabrics.problem import Problem
from planner.heuristics.greedy import place_all
from planner.heuristics.strategies import in_order
from planner.model.cluster import Cluster
from planner.model.result import Result, SolveOptions
from planner.policies.heuristic import heuristic_result
from planner.policies.slices import RackSlicing, place_on_slices
from planner.slices.torus_boxes import Sides, TorusBoxes, boxes, most_cubic


def torus_slices(problem: Problem, options: SolveOptions) -> Result:
    """Jobs in arrival order on contiguous boxes of a torus, sizes rounded up to boxes.

    Each server is a box, the servers of a rack a grid of them, both as cubic as they can be. Where the fabric is a
    torus, its own slices are used: each job with its most valuable candidate that fits, on the first free ones.
    """
    started, clock = time.perf_counter(), options.clock()
    is_own = plugin_of(problem.cluster.fabric).own_slices == "torus_slices"
    cut = torus_cut
    assignments = place_all(problem, in_order, clock=clock) if is_own else place_on_slices(problem, cut, clock)
    return heuristic_result("torus_slices", problem, options, started, assignments)


def torus_cut(cluster: Cluster, servers: Sequence[int]) -> RackSlicing:
    box, grid = torus_of(len(servers), cluster.fabric.devices_per_server)
    devices = []
    for place in product(*(range(a * b) for a, b in zip(box, grid, strict=True))):
        server = _number([p // side for p, side in zip(place, box, strict=True)], grid)
        slot = _number([p % side for p, side in zip(place, box, strict=True)], box)
        devices.append((servers[server], slot))
    sides = (box[0] * grid[0], box[1] * grid[1], box[2] * grid[2])
    return RackSlicing(tuple(devices), lambda taken: TorusBoxes(sides, taken))


def torus_of(servers: int, per_server: int) -> tuple[Sides, Sides]:
    """Box of a server and grid of the servers whose torus has the least sum of sides: 8 servers of 8 are 4 x 4 x 4."""
    box = most_cubic(per_server)
    grids = boxes((servers, servers, servers), servers)
    return box, min(grids, key=lambda grid: (sum(a * b for a, b in zip(box, grid, strict=True)), grid))


def _number(place: Sequence[int], sides: Sides) -> int:
    """Number of a place in a box, the last axis varying fastest."""
    return sum(p * prod(sides[axis + 1 :]) for axis, p in enumerate(place))

"""Whole servers plus a remainder: what electrical clusters do."""

import time
from collections.abc import Iterator

from costmodel.fabrics import FabricBase, SlicedFabric
from planner.fabrics.demand import Demand
from planner.fabrics.free_state import FreeState
from planner.fabrics.problem import Problem
from planner.fabrics.slices.free_slices import first_fit
from planner.heuristics.greedy import Blocks, free_blocks, place_all, racks
from planner.model.result import Result, SolveOptions
from planner.policies.heuristic import heuristic_result


def server_aligned(problem: Problem, options: SolveOptions) -> Result:
    """Jobs in arrival order on entirely free servers, the remainder on the tightest server that takes it whole.

    A job that asks for so many accelerators of each server takes servers with as many free.
    """
    started = time.perf_counter()
    assignments = place_all(problem, _aligned, clock=options.clock())
    return heuristic_result("server_aligned", problem, options, started, assignments)


def _aligned(board: FreeState, shape: Demand) -> Iterator[Blocks]:
    per_server = 1 if shape.is_even else _most(board.cluster.fabric, shape)
    if per_server == 0:
        return
    num_whole, remainder = divmod(shape.num_parts, per_server)
    for servers in racks(board):
        room = {s: free_blocks(board, shape, s) for s in servers}
        whole = [s for s in servers if room[s] >= per_server][:num_whole]
        if len(whole) < num_whole:
            continue
        blocks = [(s, per_server) for s in whole]
        if remainder:
            enough = [s for s in servers if s not in whole and room[s] >= remainder]
            if not enough:
                continue
            blocks.append((min(enough, key=lambda s: (room[s], s)), remainder))
        yield sorted(blocks)


def _most(fabric: FabricBase, shape: Demand) -> int:
    """Blocks that an empty server takes, or parts on slices where first fit finds these."""
    if isinstance(fabric, SlicedFabric) and shape.cut:
        return len(first_fit(fabric.slices(shape.cut), -1)) // shape.slices_together
    return fabric.devices_per_server // shape.part

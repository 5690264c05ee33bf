"""What is free of shared memory nodes while jobs are placed one by one."""

from planner.candidates.expand import expand
from planner.fabrics.free_state import FreeState
from planner.fabrics.memory_ring.free_state import NodeFreeState
from planner.fabrics.problem import JobOptions
from tests.planner.fabrics.memory_ring.ring_cases import instance, job


def _row(options: JobOptions, each_side: int) -> int:
    return next(row for row in range(len(options)) if options.shapes[row].held_units == 2 * each_side)


def test_room_counts_ranks_that_nodes_hold_together() -> None:
    """Nodes of 4 DIMMs: 2 on either side for each of four ranks, 3 or 4 for every second rank."""
    asked = instance(job("a", 1))
    free = FreeState.empty(asked.cluster)
    (options,) = expand(asked, prune=False).options
    room = {each: free.room(options.shapes[_row(options, each)])[0] for each in (1, 2, 3, 4)}
    assert room == {1: 4, 2: 4, 3: 2, 4: 2}


def test_what_is_taken_is_given_back() -> None:
    asked = instance(job("a", 1), job("b", 1))
    free = FreeState.empty(asked.cluster)
    assert isinstance(free, NodeFreeState)
    first, second = expand(asked, prune=False).options
    placed = free.assign(first, _row(first, 3), [(0, 1)])
    assert placed is not None
    assert free.dimms == [[1, 4, 4, 1]]
    assert free.copy().assign(second, _row(second, 2), [(0, 1)]) is not None
    twin = free.copy()
    there = twin.assign(second, _row(second, 4), [(0, 1)])
    assert there is not None
    assert there.devices == ("s0.d2",), "devices 1 and 3 are beside nodes of which 3 DIMMs are taken"
    assert free.dimms == [[1, 4, 4, 1]]
    free.release_named(placed)
    assert free.dimms == [[4, 4, 4, 4]]

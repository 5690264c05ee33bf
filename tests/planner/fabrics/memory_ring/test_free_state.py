"""What is free of shared memory nodes while jobs are placed one by one."""

from collections import Counter
from collections.abc import Iterable
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from planner.candidates.expand import expand
from planner.fabrics.free_state import FreeState
from planner.fabrics.memory_ring.free_state import NodeFreeState, _most
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


@given(st.sets(st.integers(0, 7)), st.lists(st.integers(0, 3), min_size=8, max_size=8))
def test_as_many_slots_as_possible_share_the_nodes_of_a_ring(slots: set[int], ranks: list[int]) -> None:
    """Node n serves slots n and n + 1, so many ranks of a job."""

    def fits(chosen: Iterable[int]) -> bool:
        each = Counter(node % 8 for slot in chosen for node in (slot, slot - 1))
        return all(number <= ranks[node] for node, number in each.items())

    found = _most(sorted(slots), ranks)
    assert set(found) <= slots
    assert fits(found)
    sizes = (len(each) for n in range(len(slots) + 1) for each in combinations(sorted(slots), n) if fits(each))
    assert len(found) == max(sizes)

"""Devices beside those of a running job, against all sequences of free ones."""

from collections import Counter
from collections.abc import Sequence
from itertools import permutations

from hypothesis import given, settings
from hypothesis import strategies as st

from costmodel.fabrics import NO_PLAN
from planner.fabrics.added_devices import BegunParts, grown
from planner.fabrics.demand import Demand
from planner.fabrics.free_slots import Device
from tests.planner.simulate.grounds import cluster

FABRIC = cluster("fat_tree").fabric
DEVICES = [(server, slot) for server in range(3) for slot in range(3)]


def lies_right(demand: Demand, devices: Sequence[Device]) -> bool:
    """Each part in one server, and where they are to lie apart no two in one."""
    size = demand.part
    parts = [{server for server, _ in devices[first : first + size]} for first in range(0, len(devices), size)]
    if any(len(servers) > 1 for servers in parts):
        return False
    return not demand.is_even or max(Counter(server for servers in parts for server in servers).values()) == 1


@given(st.data())
@settings(max_examples=60)
def test_they_are_found_exactly_where_there_are_some(data: st.DataObject) -> None:
    block = data.draw(st.sampled_from((1, 2, 3)))
    demand = Demand(1, 1, block * data.draw(st.integers(1, 3)), block, (NO_PLAN,) * 3, is_even=data.draw(st.booleans()))
    devices = data.draw(st.permutations(DEVICES))
    number = data.draw(st.integers(1, demand.num_ranks))
    held, others = devices[:number], devices[number : number + min(6, demand.num_ranks - number + 2)]
    free = {s: sorted(slot for server, slot in others if server == s) for s in range(3)}
    begun = BegunParts.of(demand, held)
    found = [] if begun is None else [*grown(FABRIC, demand, begun, range(3), free)]
    for each in found:
        assert each[:number] == held
        assert set(each[number:]) <= set(others)
        assert len(set(each)) == len(each) == demand.num_ranks
        assert lies_right(demand, each)
    more = permutations(others, demand.num_ranks - number)
    assert bool(found) == any(lies_right(demand, [*held, *added]) for added in more)


def test_the_first_way_fills_servers_that_the_job_has_and_then_the_tightest() -> None:
    demand = Demand(1, 1, 4, 1, (NO_PLAN,) * 3)
    begun = BegunParts.of(demand, [(1, 0)])
    assert begun is not None
    free = {0: [0, 1, 2, 3], 1: [4], 2: [5, 6, 7]}
    assert next(grown(FABRIC, demand, begun, range(3), free)) == [(1, 0), (1, 4), (2, 5), (2, 6)]

"""Servers beside those of a running job: found exactly where some choice gives what is asked of racks."""

from collections import Counter
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from costmodel.pricing.servers_by_rack import ServersByRack, ServersOfRack
from planner.fabrics.added_servers import added_by_rack

SIZE = 3
"""servers of a rack"""
SERVERS = range(3 * SIZE)
BOUNDS = st.tuples(st.integers(1, 3), st.integers(1, 3)).map(lambda two: ServersOfRack(min=min(two), max=max(two)))
ASKED = st.lists(st.integers(1, 3), min_size=1, max_size=3).map(tuple) | BOUNDS


def is_met(asked: ServersByRack, servers: list[int]) -> bool:
    numbers = sorted(Counter(server // SIZE for server in servers).values())
    if isinstance(asked, ServersOfRack):
        return all(asked.min <= number <= asked.max for number in numbers)
    return numbers == sorted(asked)


@given(
    ASKED,
    st.sets(st.sampled_from(SERVERS), min_size=1, max_size=4),
    st.sets(st.sampled_from(SERVERS)),
    st.integers(0, 5),
)
def test_they_are_found_exactly_where_there_are_some(
    asked: ServersByRack, begun: set[int], able: set[int], missing: int
) -> None:
    order = sorted(able - begun)
    found = [*added_by_rack(asked, missing, begun, order, lambda server: server // SIZE)]
    may_be = any(is_met(asked, [*begun, *more]) for more in combinations(order, missing))
    assert bool(found) == may_be
    for spread in found:
        servers = [server for server, _ in spread]
        assert len(set(servers)) == len(servers) == missing
        assert set(servers) <= set(order)
        assert is_met(asked, [*begun, *servers])

"""Blocks on rails beside those of a running job, against all choices of rails and servers."""

from itertools import permutations
from types import SimpleNamespace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from planner.fabrics.added_devices import BegunParts
from planner.fabrics.ocs_rail.added_rails import grown_on_rails
from planner.fabrics.ocs_rail.rails import FreeRails
from planner.model.cluster import Cluster
from tests.planner.simulate.grounds import cluster

NUM_RAILS = 4


def rails_of(failed: list[str]) -> FreeRails:
    of = cluster("ocs_rail", gpus_per_server=NUM_RAILS, switches=2)
    return FreeRails(Cluster.model_validate(of.model_dump() | {"health": {"failed_switches": failed}}))


@given(st.data())
@settings(max_examples=60)
def test_they_are_found_exactly_where_there_are_some(data: st.DataObject) -> None:
    rails = rails_of(data.draw(st.sampled_from(([], ["q1#0"], ["q0#1", "q3#0"]))))
    block, blocks, ports = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 3)), data.draw(st.integers(1, 2))
    demand: Any = SimpleNamespace(
        block=block, num_blocks=blocks, num_ranks=block * blocks, part=block, num_ports=ports, is_even=True,
        servers_by_rack=None,
    )  # fmt: skip
    chosen, servers = data.draw(st.permutations(range(NUM_RAILS))), data.draw(st.permutations(range(4)))
    whole = [(server, rail) for server in servers[:blocks] for rail in chosen[:block]]
    held = whole[: data.draw(st.integers(1, len(whole)))]
    lit = [data.draw(st.integers(0, 2**NUM_RAILS - 1)) for _ in range(4)]
    for server, rail in held:
        lit[server] |= 1 << rail
    barred = data.draw(st.frozensets(st.integers(0, 3), max_size=1))
    begun = BegunParts.of(demand, held)
    found = [] if begun is None else [*grown_on_rails(rails, demand, begun, lit, barred)]

    def is_right(devices: list[tuple[int, int]]) -> bool:
        new = devices[len(held) :]
        return (
            devices[: len(held)] == held
            and all(len(rails.switches[rail]) >= ports for _, rail in devices)
            and all(lit[server] >> rail & 1 and server not in barred for server, rail in new)
        )

    assert all(map(is_right, found))
    ways = (
        [(server, rail) for server in order for rail in each]
        for each in permutations(range(NUM_RAILS), block)
        for order in permutations(range(4), blocks)
    )
    assert bool(found) == any(map(is_right, ways))

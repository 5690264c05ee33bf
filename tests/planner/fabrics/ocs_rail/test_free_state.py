"""Free state on rails: a job on rails stays off servers that are shut."""

from random import Random

import pytest

from planner.fabrics.placement import Placement
from planner.fabrics.search import Search
from planner.heuristics.strategies import in_order
from tests.planner.simulate.grounds import cluster, ground, state_of


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_a_job_on_rails_stays_off_servers_that_are_shut(seed: int) -> None:
    """As if all that is free there were taken."""
    random = Random(seed)
    kinds = ground("g", cluster("ocs_rail", servers=6), [8, 16, 24]).kinds
    shut, taken = state_of(cluster("ocs_rail", servers=6)), state_of(cluster("ocs_rail", servers=6))
    row = next(row for row in kinds[0, 8].rows if row.shape.chooses_servers)
    for server in range(6):
        held = tuple((server, slot) for slot in range(8) if random.random() < 0.4)
        for state in (shut, taken):
            state.take(Placement(row, held, held))
    barred = set(random.sample(range(6), 2))
    free = tuple((server, slot) for server in sorted(barred) for slot in taken.slots.lit[server])
    taken.take(Placement(row, free, free))
    everywhere, elsewhere = Search(in_order), Search(in_order, barred=frozenset(barred))
    for kind in kinds.values():
        for each in (each for each in kind.rows if each.shape.chooses_servers):
            assert list(shut.spreads(each.shape, elsewhere)) == list(taken.spreads(each.shape, everywhere))


def test_servers_by_rails_follow_what_jobs_take_and_give_back() -> None:
    random = Random(0)
    kinds = ground("g", cluster("ocs_rail", servers=12), [8, 16]).kinds
    state, running = state_of(cluster("ocs_rail", servers=12)), list[Placement]()
    anywhere = Search(in_order)
    rows = [row for kind in kinds.values() for row in kind.rows if row.shape.chooses_servers][:6]
    for _ in range(40):
        if running and random.random() < 0.4:
            state.release(running.pop(random.randrange(len(running))))
        elif placed := state.place(random.choice([*kinds.values()]), anywhere):
            running.append(placed)
        fresh = state.copy()
        assert [[*state.spreads(row.shape, anywhere)] for row in rows] == [
            [*fresh.spreads(row.shape, anywhere)] for row in rows
        ]
    assert running

"""Jobs placed over racks, rack by rack."""

from planner.candidates.expand import expand
from planner.fabrics.free_state import FreeState
from tests.planner.fabrics.joined_racks.racks import PACKETS, racks


def test_nothing_stays_taken_of_a_job_that_finds_no_links() -> None:
    instance = racks(PACKETS | {"oversubscription": 4}, 8)
    options, free = expand(instance, prune=False).options[0], FreeState.empty(instance.cluster)
    assert free.links is not None
    row = next(row for row, demand in enumerate(options.shapes) if demand.racks == 2 and demand.links == 1)
    free.links.free[1,] = 0
    assert free.assign(options, row, [(0, 2), (1, 2), (2, 2), (3, 2)][: options.shapes[row].num_parts]) is None
    assert free.num_free == 12
    assert free.assign(options, row, [(0, 1)]) is None


def test_ranks_are_placed_where_they_are_told() -> None:
    instance = racks(PACKETS, 8)
    options, free = expand(instance, prune=False).options[0], FreeState.empty(instance.cluster)
    rows = [row for row, demand in enumerate(options.shapes) if demand.racks == 2 and demand.block == 2]
    row = min(rows, key=lambda row: int(options.shapes[row].boundary.max()))
    devices = [(server, slot) for server in (2, 3, 4, 5) for slot in (0, 1)]
    found = free.assign_on(options, row, devices)
    assert found is not None
    assert found.devices[0] == "r1.s0.t0"
    assert free.free_together == [4, 0, 0]

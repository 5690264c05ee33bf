"""Where ranks may lie: on distinct free tiles, each block in its server, spread jobs next to the fibers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.fabrics.demand import Demand
from planner.fabrics.lightpath.layouts import arrangements
from tests.costmodel.fabrics.lightpath_cases import lightpath
from tests.planner.fabrics.demand_cases import line, plans_of

NO_PIPELINE = line(1)


def shape_of(tensor: int, data: int, block: int) -> Demand:
    return Demand(tensor, 1, data, block, (plans_of(tensor)[0], NO_PIPELINE, plans_of(data)[0]))


@pytest.mark.slow
@given(st.sampled_from([1, 2, 4]), st.lists(st.integers(0, 2), min_size=2, max_size=6), st.data())
def test_arrangements_put_each_block_on_free_tiles_of_its_server(
    rows: int, servers: list[int], data: st.DataObject
) -> None:
    fabric = lightpath(tiles_per_server=8, tile_rows=rows, servers=3)
    free = [sorted(data.draw(st.sets(st.integers(0, 7)))) for _ in range(3)]
    shape = shape_of(2, len(servers), 2)
    found = [*arrangements(fabric, shape, servers, free)]
    fits = all(2 * servers.count(server) <= len(free[server]) for server in range(3))
    assert bool(found) == fits
    assert len({tuple(devices) for devices in found}) == len(found)
    for devices in found:
        assert [server for server, _ in devices] == [server for server in servers for _ in range(2)]
        assert len(set(devices)) == len(devices)
        assert all(slot in free[server] for server, slot in devices)


def test_a_job_in_one_server_takes_the_tightest_run_far_from_the_fibers() -> None:
    fabric = lightpath(tiles_per_server=8, tile_rows=1)
    free = [[0, 1, 2, 4, 5, 7]]
    assert [*arrangements(fabric, shape_of(2, 1, 1), [0, 0], free)] == [[(0, 4), (0, 5)]]
    assert [*arrangements(fabric, shape_of(3, 1, 1), [0, 0, 0], free)] == [[(0, 0), (0, 1), (0, 2)]]
    assert [*arrangements(fabric, shape_of(4, 1, 1), [0, 0, 0, 0], free)] == [[(0, 2), (0, 4), (0, 5), (0, 7)]]


def test_a_job_on_two_servers_goes_out_and_returns_next_to_the_fibers() -> None:
    fabric = lightpath(tiles_per_server=8, tile_rows=1)
    free = [[0, 1, 2, 3], [0, 1, 2, 3]]
    folded, straight = arrangements(fabric, shape_of(8, 1, 1), [0] * 4 + [1] * 4, free)
    assert folded == [(server, slot) for server in (0, 1) for slot in (0, 2, 3, 1)]
    assert straight == [(server, slot) for server in (0, 1) for slot in range(4)]

"""Neighbours move where that makes room: the fewest ranks, and none where it does not help."""

from collections import Counter
from dataclasses import replace
from itertools import product
from math import inf
from random import Random

import pytest

from planner.fabrics.job_class import JobClass
from planner.model.cluster import Cluster
from planner.placement.job_classes import Site
from planner.simulate.make_room import rescue
from planner.simulate.placers import PLACERS
from planner.simulate.runs import Run
from tests.planner.fabrics.joined_racks.links_in_use import faults
from tests.planner.fabrics.joined_racks.racks import FABRIC, PACKETS, TRAINING
from tests.planner.simulate.grounds import cluster, ground, mix, state_of


def _whole(kind: JobClass) -> JobClass:
    """Only rows that take one server; on fibers that are not there every row does."""
    whole = tuple(row for row in kind.rows if row.shape.num_parts == 1)
    return replace(kind, rows=whole) if whole else kind


@pytest.fixture(scope="module", params=["fat_tree", "lightpath"])
def of(request: pytest.FixtureRequest) -> Site:
    changes = {"fibers": 0} if request.param == "lightpath" else {}
    return ground("g", cluster(request.param, servers=2, **changes), [1, 2, 4, 8])


def test_two_jobs_swap_for_a_third(of: Site) -> None:
    """Each of two servers of 8 holds 3 and 3 ranks in vain for a job of 4 in one server."""
    state = state_of(of.cluster)
    placer = PLACERS["best_fit"](state, 0)
    two, four = _whole(of.kinds[0, 2]), _whole(of.kinds[0, 4])
    placed = [placer.place(two) for _ in range(8)]
    runs = [Run(i, two, placement) for i, placement in enumerate(placed) if placement is not None]
    for number in (0, 7):
        state.release(runs[number].placement)
    running = [run for run in runs if run.job not in (0, 7)]
    assert state.lit == [2, 2]
    assert placer.place(four) is None
    found = rescue(state, four, running)
    assert found is not None
    placement, moves = found
    assert len(placement.devices) == 4
    assert len({server for server, _ in placement.devices}) == 1
    assert [len(place.devices) for _, place in moves] == [2]
    held = [*placement.devices, *(d for _, place in moves for d in place.devices)]
    held += [d for run in running if run not in [moved for moved, _ in moves] for d in run.placement.devices]
    assert len(held) == len(set(held)) == 16
    assert state.num_free == 0


def test_nothing_changes_where_no_move_helps(of: Site) -> None:
    state = state_of(of.cluster)
    placer = PLACERS["best_fit"](state, 0)
    placement = placer.place(_whole(of.kinds[0, 8]))
    assert placement is not None
    single = placer.place(of.kinds[0, 1])
    assert single is not None
    before = list(state.lit)
    assert (
        rescue(state, _whole(of.kinds[0, 8]), [Run(0, of.kinds[0, 8], placement), Run(1, of.kinds[0, 1], single)])
        is None
    )
    assert state.lit == before


SIZES = [1, 2, 3, 8, 12]


@pytest.fixture(scope="module")
def joined() -> Site:
    """Three racks of two servers of four tiles without fibers: a part of a job lies in one server."""
    fabric = FABRIC | {"tiles_per_server": 4, "fibers": 0, "upper": PACKETS}
    workload = {"name": "w", "workload": TRAINING}
    wanted = mix().model_validate(mix().model_dump(by_alias=True) | {"workloads": [workload]})
    return ground("g", Cluster.model_validate({"device": "h100-sxm", "fabric": fabric}), SIZES, wanted)


@pytest.mark.parametrize("seed", range(40))
def test_parts_of_a_job_over_racks_find_room_by_the_fewest_moves(joined: Site, seed: int) -> None:
    random, state = Random(seed), state_of(joined.cluster)
    running = list[Run]()
    for _ in range(random.randint(4, 9)):
        kind = _whole(joined.kinds[0, random.choice([1, 1, 2, 3])])
        room = [server for server in range(6) if state.lit[server] >= kind.held]
        found = state.realize(kind.rows[0], [(random.choice(room), kind.rows[0].num_parts)]) if room else None
        if found is not None:
            state.take(found)
            running.append(Run(len(running), kind, found))
    kind, lit = joined.kinds[0, random.choice([8, 12])], list(state.lit)
    racks = kind.held // 4
    needed = sorted(_fewest_moved(running, rack) for rack in range(3))[:racks]
    found = rescue(state, kind, running)
    assert (found is None) == (sum(needed) > kind.held)
    if found is None:
        assert state.lit == lit
        return
    placement, moves = found
    assert sum(len(place.devices) for _, place in moves) == sum(needed)
    assert len({server // 2 for server, _ in placement.devices}) == placement.row.shape.racks == racks
    assert all(place.devices[0][0] // 2 == run.placement.devices[0][0] // 2 for run, place in moves)
    gone = [run.job for run, _ in moves]
    stay = [run.placement for run in running if run.job not in gone]
    assert not faults(state.cluster, PACKETS, [placement, *(place for _, place in moves), *stay])


def _fewest_moved(running: list[Run], rack: int) -> float:
    """Ranks that move so that a server of a rack is empty, by all ways to lay its jobs on the two servers."""
    own = [(run.placement.devices[0][0], len(run.placement.devices)) for run in running]
    own = [(server - 2 * rack, ranks) for server, ranks in own if server // 2 == rack]
    best = inf
    for servers in product((0, 1), repeat=len(own)):
        load = Counter[int]()
        for server, (_, ranks) in zip(servers, own, strict=True):
            load[server] += ranks
        if min(load[0], load[1]) == 0 and max(load[0], load[1]) <= 4:
            best = min(best, sum(ranks for server, (was, ranks) in zip(servers, own, strict=True) if server != was))
    return best

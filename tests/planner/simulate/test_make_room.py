"""Neighbours move where that makes room: the fewest ranks, and none where it does not help."""

from dataclasses import replace

import pytest

from planner.fabrics.job_class import JobClass
from planner.placement.job_classes import Site
from planner.simulate.make_room import rescue
from planner.simulate.placers import PLACERS
from planner.simulate.runs import Run
from tests.planner.simulate.grounds import cluster, ground, state_of


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

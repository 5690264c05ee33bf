"""What light has refused is asked again where something has changed, and in racks alike not even once."""

from planner.fabrics.free_state import FreeState
from planner.fabrics.refuted_spreads import RefutedSpreads
from planner.model.instance import Instance
from tests.planner.fabrics.demand_cases import shapes
from tests.planner.small_racks import rack, training

FIRST, SECOND = list(shapes(2, 1, 2, 1))[:2]


def known(*, are_alike: bool = True) -> tuple[RefutedSpreads, list[int]]:
    """Three racks of two servers with two devices each, all free; the first has refused a block on each server."""
    free = [4, 4, 4]
    refuted = RefutedSpreads(2, free, [4, 4, 4] if are_alike else [-1, -1, -1])
    refuted.add(FIRST, [(0, 1), (1, 1)])
    return refuted, free


def test_racks_alike_refuse_the_same_while_nothing_is_taken_there() -> None:
    refuted, free = known()
    assert refuted.has(FIRST, [(0, 1), (1, 1)])
    assert refuted.has(FIRST, [(4, 1), (5, 1)])
    assert not refuted.has(SECOND, [(4, 1), (5, 1)])
    assert not refuted.has(FIRST, [(4, 2), (5, 1)])
    free[2] = 3
    refuted.changed([5])
    assert not refuted.has(FIRST, [(4, 1), (5, 1)])
    assert refuted.has(FIRST, [(2, 1), (3, 1)])
    free[2] = 4
    refuted.changed([5])
    assert refuted.has(FIRST, [(4, 1), (5, 1)])
    assert not known(are_alike=False)[0].has(FIRST, [(4, 1), (5, 1)])


def test_a_change_forgets_what_one_rack_refused() -> None:
    refuted, _ = known(are_alike=False)
    assert refuted.has(FIRST, [(0, 1), (1, 1)])
    refuted.changed([1])
    assert not refuted.has(FIRST, [(0, 1), (1, 1)])
    refuted.add(FIRST, [(0, 1), (1, 1)])
    assert refuted.has(FIRST, [(0, 1), (1, 1)])


def test_racks_are_alike_where_nothing_has_failed_and_fibers_are_as_many_everywhere() -> None:
    jobs = training("x", 2)
    healthy = FreeState.empty(Instance.parse(rack(jobs, racks=2)).cluster)
    hurt = FreeState.empty(Instance.parse(rack(jobs, racks=2, health={"failed_tiles": ["r0.s0.t0"]})).cluster)
    assert healthy.racks_are_alike
    assert (len(healthy.with_free(1)), len(hurt.with_free(1))) == (1, 2)
    assert not hurt.racks_are_alike


def test_light_given_back_by_devices_that_failed_is_asked_for_again() -> None:
    hurt = FreeState.empty(
        Instance.parse(rack(training("x", 2), racks=2, health={"failed_tiles": ["r0.s0.t0"]})).cluster
    )
    hurt.refuse(FIRST, [(0, 1), (1, 1)])
    assert hurt.refused is not None
    assert hurt.refused.has(FIRST, [(0, 1), (1, 1)])
    hurt.give_back([(0, 0)])
    assert not hurt.refused.has(FIRST, [(0, 1), (1, 1)])

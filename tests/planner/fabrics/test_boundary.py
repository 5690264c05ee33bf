"""What leaves any set of blocks, against plain loops."""

import numpy as np
import pytest

from costmodel.fabrics import NO_PLAN
from planner.fabrics.boundary import _bound, boundary_of
from planner.fabrics.demand import Demand
from tests.planner.fabrics.demand_cases import SMALL, least_leaving, line, plans_of, shapes


@pytest.mark.slow
@pytest.mark.parametrize("degrees", SMALL)
def test_boundary_is_exact_and_the_bound_is_never_above_it(degrees: tuple[int, int, int, int]) -> None:
    for shape in shapes(*degrees, num_plans=2):
        exact = least_leaving(shape)
        is_only_a_ring = sum(plan.ranks > 1 for plan in shape.plans) == 1 and any(
            plan.kind == "ring" for plan in shape.plans
        )
        if is_only_a_ring:
            assert all(b <= e for b, e in zip(shape.boundary, exact, strict=True))
        else:
            assert shape.boundary.tolist() == exact
        assert (_bound(shape) <= exact).all(), shape
        assert shape.has_light == any(shape.boundary)
        assert all(leaving % shape.unit == 0 for leaving in exact)


def test_ring_of_any_length_leaves_one_circuit() -> None:
    ring = plans_of(32)[1]
    shape = Demand(32, 1, 1, 1, (ring, NO_PLAN, NO_PLAN))
    assert shape.boundary.tolist() == [0, *31 * [2], 0]
    assert shape.unit == 2


@pytest.mark.slow
def test_bound_of_many_blocks_is_never_above_some_sets() -> None:
    """Runs of consecutive blocks and random sets leave at least what the bound says."""
    rng = np.random.default_rng(0)
    for shape in (*shapes(24, 1, 1, 1), *shapes(1, 4, 6, 1, 3), *shapes(2, 3, 8, 2, 3)):
        table = boundary_of(shape)
        assert table.shape == (25,)
        for count in range(1, 24):
            sets = [range(count), rng.permutation(24)[:count], range(24)[:: max(1, 24 // count)][:count]]
            for blocks in map(frozenset[int], sets):
                most = max(
                    (
                        sum(int(t[u, v]) for u in blocks for v in range(24) if v not in blocks)
                        for t in (between.table for between in shape.between_blocks)
                    ),
                    default=0,
                )
                assert table[len(blocks)] <= most


def test_two_rings_in_halves_need_no_light_between_them() -> None:
    """Two replicas of a tensor ring in blocks of half a ring: two blocks of one ring leave nothing."""
    shape = Demand(4, 1, 2, 2, (plans_of(4)[1], NO_PLAN, NO_PLAN))
    assert least_leaving(shape) == [0, 2, 0, 2, 0]
    assert shape.boundary.tolist() == [0, 2, 0, 2, 0]


def test_boundary_is_shared_and_cannot_be_changed() -> None:
    shape = Demand(4, 1, 1, 1, (plans_of(4)[-1], NO_PLAN, NO_PLAN))
    assert shape.boundary is Demand(4, 1, 1, 1, (plans_of(4)[-1], NO_PLAN, NO_PLAN)).boundary
    with pytest.raises(ValueError, match="read-only"):
        shape.boundary[0] = 1


def test_replicas_that_send_nothing_to_each_other_share_no_light() -> None:
    """Ten pipelines of two stages: two blocks may be one of them, and nothing leaves it."""
    shape = Demand(1, 2, 10, 1, (NO_PLAN, line(2), NO_PLAN))
    assert shape.boundary[2] == 0

"""Light that leaves some ranks of one group: never above what some set of them needs."""

from itertools import combinations

import pytest

from costmodel.collectives.family import plans_of
from costmodel.collectives.ladder import Collective
from costmodel.collectives.limits import Limits
from costmodel.collectives.plan import CollectivePlan
from planner.fabrics.group_bounds import group_bound


@pytest.mark.parametrize("collective", ["all_reduce", "all_to_all"])
@pytest.mark.parametrize("ranks", [2, 4, 6, 8, 9])
def test_no_set_of_ranks_needs_less(collective: Collective, ranks: int) -> None:
    for wavelengths, peers in ((4, 3), (8, 7), (3, 2)):
        for plan in plans_of(collective, ranks, Limits(wavelengths, peers, 1e-6, 1e-5, 1e9)):
            bound = group_bound(plan)
            assert (bound <= _least(plan)).all(), plan.name
            assert bound[0] == bound[-1] == 0
            assert (bound[1:-1] > 0).any() or ranks == 2 or plan.kind in ("direct", "bruck"), plan.name


def _least(plan: CollectivePlan) -> list[int]:
    """Over all sets of so many ranks, in the configuration that needs most."""
    least = []
    for count in range(plan.ranks + 1):
        sets = map(set, combinations(range(plan.ranks), count))
        needs = (
            max(sum(width for a, b, width in held if a in some and b not in some) for held in plan.configurations())
            for some in sets
        )
        least.append(min(needs))
    return least

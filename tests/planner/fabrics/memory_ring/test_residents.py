"""Jobs that run already and hold too many DIMMs are refused; others may stay or move."""

import pytest

from planner.checks import check
from planner.model.errors import InputError
from planner.pipeline import solve
from tests.planner.fabrics.memory_ring.ring_cases import instance, job, resident, shared
from tests.planner.optimum import OPTIONS


def test_residents_that_hold_too_much_are_refused() -> None:
    asked, plan = shared()
    first = resident(asked, plan, "b", devices=["s0.d0"])
    second = resident(asked, plan, "c", devices=["s0.d1"])
    with pytest.raises(InputError, match=r"residents\[c\].*hold more DIMMs of s0.n0 than its 4"):
        instance(residents=(first, second))


def test_a_resident_that_may_not_move_keeps_its_dimms() -> None:
    asked, plan = shared()
    stays = resident(asked, plan, "b", devices=["s0.d1"], movable=False)
    later = instance(job("a", 1), job("c", 1), residents=(stays,))
    found = solve(later, options=OPTIONS).plan
    assert found is not None
    assert check(later, found, starts=True) == []
    assert found["b"].devices == ("s0.d1",)
    assert [each.devices for each in found.assignments if each.job != "b"] == [("s0.d3",)]

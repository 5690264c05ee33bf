"""Jobs on slices of a torus or SiPAC: good plans written by hand, and each way to break them."""

import pytest

from planner.checks import check
from tests.planner.checks.plans import broken, edited, held
from tests.planner.fabrics.slices.plans import GOOD


@pytest.mark.parametrize("name", GOOD)
def test_good_plans(name: str) -> None:
    assert check(*GOOD[name]()) == []


def test_plain_tori_and_sipacs_have_no_circuits() -> None:
    for name, rule in (("box", "switches"), ("subcube", "circuits")):
        instance, plan = GOOD[name]()
        first, second = plan[name].devices[:2]
        wired = edited(plan, name, circuits=(held("slice", f"{first} {second} 0"),))
        assert rule in broken(instance, wired)

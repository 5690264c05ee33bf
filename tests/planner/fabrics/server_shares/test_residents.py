"""Jobs that run already and hold too much of their ports are refused."""

import pytest

from planner.model.errors import InputError
from planner.pipeline import solve
from tests.planner.fabrics.divided_ports.clusters import LONG, instance, job, resident, tiered
from tests.planner.optimum import OPTIONS


@pytest.mark.slow
def test_residents_that_hold_too_much_are_refused() -> None:
    asked = instance(job("a", 4), per_server=2)
    plan = solve(asked, options=OPTIONS).plan
    assert plan is not None
    with pytest.raises(InputError, match=r"residents\[a\].*hold 16 ports more than it has"):
        instance(residents=(resident(asked, plan, "a"),))


def test_residents_that_hold_too_much_of_a_second_tier_are_refused() -> None:
    asked = tiered(*(job(name, 1, workload=LONG) for name in "abcd"))
    plan = solve(asked, options=OPTIONS).plan
    assert plan is not None
    wide = max("abcd", key=lambda name: plan[name].configuration.tier_units or 0)
    one = resident(asked, plan, wide)
    assert one["configuration"]["tier_units"] == 2
    other = one | {"name": "other", "devices": ["s0.g1"]}
    tiered(residents=(one | {"devices": ["s1.g0"]}, other))
    with pytest.raises(InputError, match=r"residents\[other\].*hold 1 second-tier units more than it has"):
        tiered(residents=(one | {"devices": ["s0.g0"]}, other))

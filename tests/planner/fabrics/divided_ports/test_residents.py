"""Jobs that run already and hold too much of their ports are refused."""

import pytest

from planner.model.errors import InputError
from planner.pipeline import solve
from tests.planner.fabrics.divided_ports.clusters import instance, job, resident
from tests.planner.optimum import OPTIONS


@pytest.mark.slow
def test_residents_that_hold_too_much_are_refused() -> None:
    asked = instance(job("a", 4), per_server=2)
    plan = solve(asked, options=OPTIONS).plan
    assert plan is not None
    with pytest.raises(InputError, match=r"residents\[a\].*hold 16 ports more than its appliances have"):
        instance(residents=(resident(asked, plan, "a"),))

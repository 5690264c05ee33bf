"""Jobs in one rack."""

import pytest

from tests.planner.checks.good import replicas
from tests.planner.checks.plans import broken, edited


@pytest.mark.parametrize(
    ("devices", "rules"),
    [
        (("r1.s0.t0", "r1.s1.t0"), set()),
        (("r0.s1.t0", "r1.s1.t0"), {"rack"}),
        (("r0.s1.t0", "r1.s0.t0"), {"rack"}),
    ],
)
def test_rack(devices: tuple[str, str], rules: set[str]) -> None:
    instance, plan = replicas()
    assert broken(instance, edited(plan, "replicas", devices=devices)) == rules

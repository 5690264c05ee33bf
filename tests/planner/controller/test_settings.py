"""Time for CP-SAT grows with the cluster."""

import pytest

from planner.controller import Settings


@pytest.mark.parametrize(("accelerators", "expected_s"), [(8, 0.025), (256, 0.025), (4096, 0.1)])
def test_time_for_cp_sat_grows_with_the_cluster(accelerators: int, expected_s: float) -> None:
    assert Settings().repair_s(accelerators) == pytest.approx(expected_s)
    assert Settings(repair_budget_s=0.5).repair_s(accelerators) == 0.5

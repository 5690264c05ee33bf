"""Studies of fragmentation meet the exact values."""

import numpy as np
import pytest

from planner.slices import AnyChip, RingsOverServers, TorusBoxes
from planner.studies.fragmentation.study import OfferedLoad, exact, study
from tests.planner.studies.fragmentation.loss_system_cases import SIZES, UNIFORM


@pytest.mark.slow
def test_any_chip_first_come_meets_the_exact_values() -> None:
    """Within 1.5 times the interval of 16 short replications, and the interval is narrow."""
    load = OfferedLoad(SIZES, UNIFORM, 0.95, jobs=2500, seeds=16, warm_up=8.0)
    for capacity in (64, 256):
        outcome = study(load, capacity, {"any": lambda capacity=capacity: AnyChip(capacity)})["any"]
        assert (outcome.plain.half_width < 0.013).all()
        assert (np.abs(outcome.plain.mean - exact(load, capacity)) < 1.5 * outcome.plain.half_width).all()
        np.testing.assert_allclose(outcome.best.mean, exact(load, capacity), rtol=1e-12)
        assert not outcome.less_any_chip.mean.any()


@pytest.mark.slow
def test_the_control_narrows_what_resembles_it() -> None:
    load = OfferedLoad(SIZES, UNIFORM, 0.95, jobs=1500, seeds=12, warm_up=8.0)
    found = study(load, 64, {"rings": lambda: RingsOverServers(8, 8, 1), "torus": lambda: TorusBoxes((4, 4, 4))})
    assert (found["rings"].best.half_width < 0.3 * found["rings"].plain.half_width).all()
    assert (found["torus"].less_any_chip.mean[1:] < -0.05).all()

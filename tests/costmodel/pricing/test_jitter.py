"""Bands of single steps about the median one."""

import numpy as np

from costmodel.pricing.jitter import LATE, MOMENT, WHOLE, step_band_s


def test_short_steps_differ_by_more_of_themselves_and_late_ones_most() -> None:
    step_s = np.array([0.1, 1.0, 10.0, 1e6])
    early, late = step_band_s(step_s)
    width = 1 - early / step_s
    assert (np.diff(width) < 0).all()
    np.testing.assert_allclose(late / step_s - 1, LATE * width)
    np.testing.assert_allclose(width[[1, 3]], [np.hypot(WHOLE, MOMENT), WHOLE], rtol=1e-5)

"""Bands of single steps about the median one."""

import numpy as np

from costmodel.pricing.jitter import COVERING, LATE, MOMENT, WHOLE, step_band_s


def test_short_steps_differ_by_more_of_themselves_and_late_ones_most() -> None:
    step_s = np.array([0.1, 1.0, 10.0, 1e6])
    early, late = step_band_s(step_s, 1.0)
    width = 1 - early / step_s
    assert (np.diff(width) < 0).all()
    np.testing.assert_allclose(late / step_s - 1, LATE * width)
    np.testing.assert_allclose(width[[1, 3]], [np.hypot(WHOLE, MOMENT), WHOLE], rtol=1e-5)


def test_the_stated_band_is_that_of_more_than_the_median_system() -> None:
    step_s = np.array([0.1, 10.0])
    typical, stated = step_band_s(step_s, 1.0), step_band_s(step_s)
    for near, far in zip(typical, stated, strict=True):
        np.testing.assert_allclose(far - step_s, COVERING * (near - step_s))

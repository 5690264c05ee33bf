"""Errors in a few figures, by hand and against scipy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costmodel.calibrate.errors import errors_of, rank_correlation, relative_error

NAN = float("nan")


def test_rows_without_prediction_or_measurement_have_no_error() -> None:
    predicted = np.array([1.1, NAN, 3.0, 3.0, 3.0])
    measured = np.array([1.0, 1.0, 0.0, NAN, 2.0])
    error = relative_error(predicted, measured)
    assert np.isnan(error).tolist() == [False, True, True, True, False]
    assert error[[0, 4]] == pytest.approx([0.1, 0.5])


def test_figures_by_hand() -> None:
    error = np.array([0.1, -0.3, NAN, 0.2, 0.0])
    figures = errors_of(error, np.array([True, True, True, False, False]))
    assert figures is not None
    assert (figures.rows, figures.calibrated_rows) == (4, 2)
    assert (figures.mean, figures.median, figures.worst) == pytest.approx((0.15, 0.15, 0.3))
    assert figures.p90 == pytest.approx(0.27)
    assert figures.bias == pytest.approx(0.0)


def test_nothing_kept_has_no_figures() -> None:
    assert errors_of(np.array([NAN]), np.array([True])) is None


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=3, max_size=30))
def test_rank_correlation_is_that_of_scipy(pairs: list[tuple[int, int]]) -> None:
    from scipy.stats import spearmanr

    first, second = (np.array(column, dtype=np.float64) for column in zip(*pairs, strict=True))
    ours = rank_correlation(first, second)
    if len(set(first)) == 1 or len(set(second)) == 1:
        assert ours is None
    else:
        assert ours == pytest.approx(spearmanr(first, second).statistic)

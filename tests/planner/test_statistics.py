"""Intervals by Student's t."""

import numpy as np
import pytest

from planner.statistics import controlled, estimate, student_quantile


@pytest.mark.parametrize(
    ("freedom", "quantile"),
    [(1, 12.706), (2, 4.3027), (3, 3.1824), (4, 2.7764), (5, 2.571), (10, 2.228), (18, 2.101), (30, 2.042)],
)
def test_quantiles_of_student(freedom: int, quantile: float) -> None:
    assert student_quantile(freedom) == pytest.approx(quantile, rel=2e-3)


def test_intervals_cover() -> None:
    generator = np.random.default_rng(0)
    covered, covered_controlled = 0, 0
    for _ in range(400):
        control = generator.normal(size=(10, 1))
        samples = 2.0 + 0.8 * control + 0.3 * generator.normal(size=(10, 1))
        plain, better = estimate(samples), controlled(samples, control, np.zeros(1))
        covered += abs(plain.mean[0] - 2.0) < plain.half_width[0]
        covered_controlled += abs(better.mean[0] - 2.0) < better.half_width[0]
    assert 0.92 < covered / 400 < 0.98
    assert 0.92 < covered_controlled / 400 < 0.98
    with pytest.raises(ValueError, match="seeds: 1 replications are too few"):
        estimate(np.zeros((1, 1)))

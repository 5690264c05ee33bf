"""Serving jobs that are listed together are priced in a fraction of the time that each alone takes."""

import pytest

from tests.benchmarks.bench_serving_candidates import CASES, one_by_one, together

LEAST = 2.5
"""times the rows a second; on a quiet core they are 5 to 20"""


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_together_is_faster_than_one_by_one(name: str) -> None:
    jobs = CASES[name]()
    together(jobs[:2])
    both, each = together(jobs), one_by_one(jobs[:6])
    assert both.rows > 0
    assert both.rows_per_s > LEAST * each.rows_per_s

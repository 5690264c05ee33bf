"""Limits on the times that users wait."""

import numpy as np
import pytest
from pydantic import ValidationError

from costmodel.serving.limits import ROUNDING, ServingLimits


def test_the_worse_of_both_times_counts() -> None:
    limits = ServingLimits.model_validate({"ttft": "500 ms", "tpot": "40 ms"})
    ttft_s, tpot_s = np.array([0.25, 0.5, 1.0, 0.1]), np.array([0.01, 0.04, 0.01, 0.05])
    assert limits.excess(ttft_s, tpot_s) == pytest.approx([0.5, 1.0, 2.0, 1.25])
    assert limits.are_met(ttft_s, tpot_s).tolist() == [True, True, False, False]


def test_a_time_without_a_limit_may_be_any() -> None:
    limits = ServingLimits.model_validate({"tpot": "40 ms"})
    assert limits.are_met(np.array([1e9]), np.array([0.04 * (1 + ROUNDING / 2)])).all()
    assert not limits.are_met(np.array([0.0]), np.array([0.04 * (1 + 2 * ROUNDING)])).any()


@pytest.mark.parametrize(
    ("given", "message"),
    [({}, "no limit in it"), ({"ttft": 0}, "greater than 0"), ({"tpot": "40 mm"}, "unknown unit 'mm'")],
)
def test_bad_limits_are_told(given: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        ServingLimits.model_validate(given)

"""Candidates that meet what users ask, held against pricing all of them."""

import numpy as np
import pytest

from costmodel.pricing.limits import Limits
from costmodel.pricing.listing import listed_and_priced
from costmodel.serving.limits import ServingLimits
from tests.costmodel.pricing.unlisted_cases import H100, WORKLOADS, fabric, workload
from tests.fabrics import FABRICS

SIZES = (2, 4, 8)
PATIENT = workload(WORKLOADS["served"])


@pytest.mark.parametrize("name", FABRICS)
def test_what_waits_too_long_is_not_listed_and_all_else_is(name: str) -> None:
    on = fabric(name)
    every, prices = listed_and_priced(PATIENT, SIZES, H100, on)
    ttft_s, tpot_s = (float(np.quantile(column, 0.7, method="lower")) for column in (prices.ttft_s, prices.tpot_s))
    hurried = PATIENT.model_copy(update={"limits": ServingLimits(ttft_s=ttft_s, tpot_s=tpot_s)})
    kept, scores = listed_and_priced(hurried, SIZES, H100, on)
    in_time = [row for row in range(len(every)) if prices.ttft_s[row] <= ttft_s and prices.tpot_s[row] <= tpot_s]
    assert 0 < len(in_time) < len(every)
    assert [kept.configuration(row) for row in range(len(kept))] == [every.configuration(row) for row in in_time]
    np.testing.assert_array_equal(scores.step_s, prices.step_s[in_time])


def test_a_job_of_one_setting_has_no_phases() -> None:
    on = fabric("sipam")
    assert listed_and_priced(PATIENT, SIZES, H100, on)[0].has_phases.any()
    assert not listed_and_priced(PATIENT, SIZES, H100, on, Limits(one_setting=True))[0].has_phases.any()

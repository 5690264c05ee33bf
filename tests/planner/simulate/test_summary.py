"""Rows of a study hold intervals and paired differences."""

import json

import pytest

from planner.simulate.run_one import Outcome, SimulationRun
from planner.simulate.summary import summarize, to_records
from planner.statistics import estimate


def test_rows_hold_intervals_and_paired_differences() -> None:
    values = {"first": [1.0, 2.0, 3.0, 4.0, 5.0], "second": [1.5, 2.6, 3.4, 4.5, 5.5]}
    outcomes = {
        SimulationRun("c", policy, 0.5, seed): Outcome({"goodput": value}, {})
        for policy, column in values.items()
        for seed, value in enumerate(column)
    }
    rows = {(row.policy, row.measure): row for row in summarize(outcomes)}
    second = rows["second", "goodput"]
    assert (second.mean, second.seeds) == (pytest.approx(3.5), 5)
    assert second.less_policy == pytest.approx(0.5)
    assert second.less_policy_half_width is not None
    assert second.half_width is not None
    assert second.less_policy_half_width < 0.2 < second.half_width
    import numpy as np

    assert second.half_width == pytest.approx(estimate(np.array(values["second"])[:, None]).half_width[0])
    assert rows["first", "goodput"].less_policy is None
    assert rows["first", "admitted"].mean is None
    json.dumps(to_records(rows.values()), allow_nan=False)

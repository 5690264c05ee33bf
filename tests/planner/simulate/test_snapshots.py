"""Snapshots agree with when jobs ran, and show what failed."""

import numpy as np
import pytest

from planner.simulate.run_one import Outcome
from planner.simulate.snapshots import MOST_WAITING
from tests.planner.simulate.log_cases import Watched


def test_snapshots_agree_with_when_jobs_ran(watched: Watched) -> None:
    assert len(watched.seen) == 3
    for at_s, seen in watched.seen:
        runs = (watched.start_s <= at_s) & (watched.finish_s > at_s)
        assert [job["number"] - 1 for job in seen["jobs"]] == np.flatnonzero(runs).tolist()  # type: ignore[attr-defined]
        owner = np.array(seen["owner"])
        assert np.bincount(owner[owner >= 0]).tolist() == watched.held[runs].tolist()
        waits = np.flatnonzero((watched.arrival_s <= at_s) & (watched.start_s > at_s))
        line = [job["number"] - 1 for job in seen["waiting"]]  # type: ignore[attr-defined]
        assert line == waits.tolist()[:MOST_WAITING]
        assert (seen["num_waiting"], seen["asked"]) == (len(waits), watched.held[waits].sum())
        for job in seen["jobs"]:  # type: ignore[attr-defined]
            assert job["since_s"] == pytest.approx(at_s - watched.start_s[job["number"] - 1])


def test_snapshots_show_failed_parts(failing: Outcome) -> None:
    assert [each["moment"] for each in failing.snapshots] == [0.4, 0.8]
    assert any(each["failed"] for each in failing.snapshots)
    for each in failing.snapshots:
        holders = {each["owner"][device] for device in each["failed"]} - {-1}
        spare = [device for device in each["failed"] if device in each["spare"]]
        assert not holders or spare, "no rank runs on a failed device"

"""Where work is limited instead of time, how fast the clock runs decides nothing of what a search begins with."""

import time
from dataclasses import replace

import pytest

from planner.model.instance import Instance
from planner.model.result import Result, SolveOptions
from planner.pipeline import solve
from planner.studies.random_instances import random_datacenter

FASTER = 500.0
CLUSTER = Instance.parse(random_datacenter("lightpath", 1024, 100, 0))
COUNTED = SolveOptions(workers=1, deterministic_limit=0.5)


def on_a_clock(speed: float, options: SolveOptions) -> Result:
    """The result while the clock runs so many times as fast."""
    real, begun_s = time.perf_counter, time.perf_counter()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(time, "perf_counter", lambda: begun_s + speed * (real() - begun_s))
        return solve(CLUSTER, options=options)


def test_a_large_cluster_has_the_same_plan_on_a_machine_that_is_slower() -> None:
    usual, late = (on_a_clock(speed, COUNTED) for speed in (1.0, FASTER))
    assert usual.plan == late.plan
    assert usual.starts == late.starts


def test_a_time_limit_that_is_over_leaves_jobs_out() -> None:
    """The same cluster by the clock: else the test above would say nothing."""
    whole = on_a_clock(FASTER, COUNTED).starts["priced"].value
    late = on_a_clock(FASTER, replace(COUNTED, deterministic_limit=None)).starts["priced"].value
    assert late is not None
    assert whole is not None
    assert late < whole

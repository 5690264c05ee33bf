"""The policy of CP-SAT expands again only what a proof needs; counted work begins the same whatever the clock says."""

import time
from dataclasses import replace

import numpy as np
import pytest

from planner.candidates.expand import expand
from planner.model.clock import Clock
from planner.model.instance import Instance
from planner.model.result import Result, SolveOptions
from planner.pipeline import solve
from planner.policies.cpsat import _is_as_listed
from planner.studies.random_instances import random_datacenter
from tests.benchmarks.random_pools import random_pool

FASTER = 500.0
CLUSTER = Instance.parse(random_datacenter("lightpath", 1024, 100, 0))
COUNTED = SolveOptions(workers=1, deterministic_limit=0.5)


@pytest.mark.slow
def test_only_what_an_instance_expands_to_is_expanded_again_for_a_proof() -> None:
    problem, clock = expand(random_pool(32, 3, 2)), Clock.of(600.0)
    assert _is_as_listed(problem, clock)
    first, *others = problem.options
    fewer = replace(problem, options=(first.take(np.arange(len(first) - 1)), *others))
    revalued = replace(problem, options=(replace(first, value=0.5 * first.value), *others))
    assert not _is_as_listed(fewer, clock)
    assert not _is_as_listed(revalued, clock)


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

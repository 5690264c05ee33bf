"""The policy of CP-SAT expands again only what a proof needs."""

from dataclasses import replace

import numpy as np
import pytest

from planner.candidates.expand import expand
from planner.model.clock import Clock
from planner.policies.cpsat import _is_as_listed
from tests.benchmarks.random_pools import random_pool


@pytest.mark.slow
def test_only_what_an_instance_expands_to_is_expanded_again_for_a_proof() -> None:
    problem, clock = expand(random_pool(32, 3, 2)), Clock.of(600.0)
    assert _is_as_listed(problem, clock)
    first, *others = problem.options
    fewer = replace(problem, options=(first.take(np.arange(len(first) - 1)), *others))
    revalued = replace(problem, options=(replace(first, value=0.5 * first.value), *others))
    assert not _is_as_listed(fewer, clock)
    assert not _is_as_listed(revalued, clock)

"""Shared memory nodes are handed out by `planner solve` alone."""

import pytest

from planner.fabrics import plugin_of
from planner.model.errors import InputError
from tests.planner.fabrics.memory_ring.ring_cases import instance, job


def test_replays_and_controllers_refuse_shared_nodes() -> None:
    shared, apart = (instance(job("a", 1), shared_nodes=each).cluster.fabric for each in (True, False))
    rules = plugin_of(shared).job_classes
    with pytest.raises(InputError, match=r"fabric\.shared_nodes.*cannot be replayed"):
        rules.require_replayed(shared, "site")
    with pytest.raises(InputError, match=r"fabric\.shared_nodes.*planner solve"):
        rules.require_served(shared)
    rules.require_replayed(apart, "site")
    rules.require_served(apart)

"""Sampled failures and repairs as a sequence of clusters."""

from heapq import heapify, heappop
from math import inf

from planner.model.cluster import Cluster
from planner.model.edit import edited
from planner.whatif.failure_model import FailureModel, sample_failures
from planner.whatif.failures import parse_failure, worsened


class Outages:
    """The cluster as parts fail and work again."""

    def __init__(self, cluster: Cluster, model: FailureModel, horizon_s: float, seed: int) -> None:
        events = sample_failures(model, cluster.fabric, horizon_s, seed)
        self._cluster, self._down = cluster, dict[str, None]()
        self._changes = [(event.fail_s, True, event.part) for event in events]
        self._changes += [(event.repair_s, False, event.part) for event in events]
        heapify(self._changes)

    @property
    def next_s(self) -> float:
        """When the next part fails or works again, inf for never."""
        return self._changes[0][0] if self._changes else inf

    def step(self) -> Cluster:
        """The cluster after the next change."""
        _, is_failure, part = heappop(self._changes)
        if is_failure:
            self._down[part] = None
        else:
            del self._down[part]
        failures = [parse_failure(self._cluster, name) for name in self._down]
        return edited(self._cluster, health=worsened(self._cluster.health, failures))

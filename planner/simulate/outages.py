"""Sampled failures, logged faults and repairs as a sequence of clusters."""

from collections import Counter
from collections.abc import Sequence
from functools import cache
from heapq import heapify, heappop
from math import inf

from planner.model.cluster import Cluster
from planner.whatif.failure_model import FailureModel, sample_failures
from planner.whatif.failures import damaged_cluster, parse_failure
from planner.whatif.fault_log import LinkedFault


class Outages:
    """The cluster as parts fail and work again."""

    def __init__(
        self,
        cluster: Cluster,
        model: FailureModel | None,
        horizon_s: float,
        seed: int,
        faults: Sequence[LinkedFault] = (),
    ) -> None:
        """A part that several faults took works again after the last of them."""
        sampled = () if model is None else sample_failures(model, cluster.fabric, horizon_s, seed)
        events = [*faults, *(LinkedFault((event.part,), event.fail_s, event.repair_s) for event in sampled)]
        self._cluster, self._down = cluster, Counter[str]()
        self._parse = cache(lambda name: parse_failure(cluster, name))
        self._changes = [(event.fail_s, True, event.parts) for event in events]
        self._changes += [(event.repair_s, False, event.parts) for event in events]
        heapify(self._changes)

    @property
    def next_s(self) -> float:
        """When the next part fails or works again, inf for never."""
        return self._changes[0][0] if self._changes else inf

    def step(self) -> Cluster:
        """The cluster after all changes of the next time."""
        now_s = self.next_s
        while self.next_s == now_s:
            _, is_failure, parts = heappop(self._changes)
            self._down.update(dict.fromkeys(parts, 1 if is_failure else -1))
        self._down = +self._down
        return damaged_cluster(self._cluster, [self._parse(name) for name in self._down])

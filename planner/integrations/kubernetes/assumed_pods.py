"""Pods that the planner has bound and its informer does not show on their nodes yet (kube-scheduler: assumed pods)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from planner.integrations.kubernetes.informer import Informer
from planner.integrations.kubernetes.pods import Pod

FRESH_S = 10.0
"""what was created so long ago, and is not among the pods, is gone"""


@dataclass
class _Assumed:
    pod: Pod
    """as it will be seen"""
    since_s: float
    is_listed: bool = False
    """whether the informer has shown it, on a node or not"""


class AssumedPods:
    """What they take is taken, whatever becomes of their job before they are seen."""

    def __init__(self, pods: Informer, clock: Callable[[], float]) -> None:
        self._pods, self._clock = pods, clock
        self._assumed: dict[str, _Assumed] = {}
        """by uid"""

    def add(self, pod: Pod, node: str, annotations: Mapping[str, str]) -> None:
        """A pod is on a node, and has been told more."""
        about = {**pod.item["metadata"], "annotations": {**pod.annotations, **annotations}}
        item = {**pod.item, "metadata": about, "spec": {**pod.spec, "nodeName": node}}
        self._assumed[pod.uid] = one = _Assumed(Pod(item), self._clock())
        self._is_to_come(one)

    def pods(self) -> list[Pod]:
        """Those that are not seen on their nodes yet."""
        self._assumed = {uid: one for uid, one in self._assumed.items() if self._is_to_come(one)}
        return [one.pod for one in self._assumed.values()]

    def _is_to_come(self, one: _Assumed) -> bool:
        """False also for what has been shown and is shown no more: it has ended."""
        item = self._pods.objects.get((one.pod.namespace, one.pod.name))
        if item is not None and Pod(item).uid == one.pod.uid:
            one.is_listed = True
            return not Pod(item).node
        return not one.is_listed and self._clock() < one.since_s + FRESH_S

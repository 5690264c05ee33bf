"""Requeue pods that were turned away: kube-scheduler tries them again once they may go.

An extender cannot tell it when: a pod that was turned away is tried again when something in the cluster changes, else
after five minutes. A change of the pod itself is such an event, so that an annotation brings it back.
"""

import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime

from planner.controller.controller import Controller
from planner.integrations.kubernetes.assumed_pods import FRESH_S
from planner.integrations.kubernetes.client import KubernetesClient, path_of, refusals_logged
from planner.integrations.kubernetes.config import DOMAIN
from planner.integrations.kubernetes.extender import Extender, Turned
from planner.integrations.kubernetes.informer import Informer
from planner.integrations.kubernetes.jobs import all_jobs
from planner.integrations.kubernetes.pods import Pod, job_of

READY = f"{DOMAIN}/ready"
"""annotation of a pod that waits: when it was last known that it may go; nobody reads it"""


class Requeuer:
    """Requeues pods whose last answer is another by now."""

    def __init__(
        self,
        controller: Controller,
        api: KubernetesClient,
        pods: Informer,
        extender: Extender,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._controller, self._api, self._pods, self._extender = controller, api, pods, extender
        self._clock = clock
        self._has_begun = False

    def reconcile(self) -> None:
        """Look at each pod that was turned away, and have those tried again that may go now; ApiError."""
        waiting = {pod.uid: pod for pod in map(Pod, self._pods.objects.values()) if not pod.node}
        if self._has_begun and not self._extender.turned_away:
            return
        jobs = all_jobs(self._controller)
        unplaced = {name for name, job in jobs.items() if job.place is None}
        for uid, turned in list(self._extender.turned_away.items()):
            if uid in waiting:
                if turned.asked.job not in unplaced:
                    self._look(waiting[uid], turned)
            elif self._clock() > turned.at_s + FRESH_S:
                self._extender.turned_away.pop(uid, None)
        if not self._has_begun:
            self._begin([pod for pod in waiting.values() if job_of(pod) not in unplaced])

    def _look(self, pod: Pod, turned: Turned) -> None:
        with self._controller.group():
            verdict = self._extender.judge(turned.asked)
        if verdict.why:
            return
        self._extender.turned_away[pod.uid] = turned
        if self._requeue(pod):
            del self._extender.turned_away[pod.uid]

    def _begin(self, waiting: Iterable[Pod]) -> None:
        """Nobody remembers whom the process before this one has turned away."""
        for pod in waiting:
            if job_of(pod):
                self._requeue(pod)
        self._has_begun = True

    def _requeue(self, pod: Pod) -> bool:
        """Change a pod, which brings it back; False where it is not to be changed now."""
        at = datetime.fromtimestamp(self._clock(), UTC).isoformat(timespec="microseconds")
        about = {"uid": pod.uid, "annotations": {READY: at}}
        with refusals_logged():
            self._api.patch(path_of("v1", "pods", pod.namespace, pod.name), {"metadata": about})
            return True
        return False

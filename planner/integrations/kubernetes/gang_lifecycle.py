"""Gangs of pods that no Kueue manages: one job each, planned when the first pod is scheduled, let go with the last."""

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from planner.controller.controller import Controller
from planner.controller.view import JobState
from planner.integrations.kubernetes.client import KubernetesClient, path_of, refusals_logged
from planner.integrations.kubernetes.config import DOMAIN, KubernetesSite
from planner.integrations.kubernetes.holders import Holders
from planner.integrations.kubernetes.informer import Informer
from planner.integrations.kubernetes.jobs import all_jobs, leave
from planner.integrations.kubernetes.pod_assignment import VISIBLE, PodAssignment, SplitError, pod_assignments_of
from planner.integrations.kubernetes.pod_groups import (
    PodGroup,
    PodGroupError,
    PodSet,
    accelerators_of,
    clipped,
    pod_group_of,
    whole_number,
)
from planner.integrations.kubernetes.pods import Pod, annotated_job, bound, is_gang, job_of

SIZE = f"{DOMAIN}/gang-size"
Taken = dict[tuple[str, str], PodAssignment]
"""assignments by node and indices"""


def gang_pod_group(pod: Pod, site: KubernetesSite) -> PodGroup:
    """The request of the gang that a pod belongs to; PodGroupError where it can never run."""
    text = pod.annotations.get(SIZE, "1")
    pods = whole_number(text)
    if not pods:
        raise PodGroupError(f"{SIZE}: '{text[:20]}' is no number of pods")
    limit = pod.spec.get("activeDeadlineSeconds")
    about: dict[str, Any] = {
        "name": job_of(pod),
        "tenant": pod.namespace,
        "priority": clipped(pod.spec.get("priority")),
        "duration_s": None if limit is None else float(limit),
    }
    each = accelerators_of(pod.spec, site.config.resources)
    return pod_group_of([PodSet("gang", pods, each)], about, pod.annotations, site)


class GangLifecycle:
    """Jobs end with their pods, and pods with the places of their jobs."""

    def __init__(
        self, controller: Controller, api: KubernetesClient, site: KubernetesSite, pods: Informer, holders: Holders
    ) -> None:
        self._controller, self._api, self._site = controller, api, site
        self._pods, self._holders = pods, holders

    def reconcile(self) -> None:
        """Let jobs go whose pods are over, delete pods that stand where their job is not."""
        jobs = all_jobs(self._controller)
        for name, job in jobs.items():
            if is_gang(name) and not self._holders.has(name):
                leave(self._controller, job, ended=True)
        known: dict[tuple[str, int], Taken] = {}
        for pod in bound(self._pods.objects.values(), self._site.config.resources):
            is_ours = is_gang(annotated_job(pod)) and VISIBLE in pod.annotations
            if is_ours and assignment_key(pod) not in self._assignments(pod, jobs, known):
                with refusals_logged():
                    self._api.delete(path_of("v1", "pods", pod.namespace, pod.name), pod.uid)

    def _assignments(self, pod: Pod, jobs: dict[str, JobState], known: dict[tuple[str, int], Taken]) -> Taken:
        """Assignments of the pods of a pod's job as it runs now; none where it does not."""
        try:
            each = accelerators_of(pod.spec, self._site.config.resources)
        except PodGroupError:
            return {}
        key = annotated_job(pod), each
        if key not in known:
            job, known[key] = jobs.get(key[0]), {}
            if job is not None and job.place is not None:
                with suppress(SplitError):
                    known[key] = by_key(pod_assignments_of(job.place, each, self._site))
        return known[key]


def assignment_key(pod: Pod) -> tuple[str, str]:
    """Node and indices of a bound pod, which are of one assignment."""
    return pod.node, pod.annotations.get(VISIBLE, "")


def by_key(assignments: Iterable[PodAssignment]) -> Taken:
    """Assignments by what their pods would show."""
    return {(assignment.node, assignment.visible): assignment for assignment in assignments}

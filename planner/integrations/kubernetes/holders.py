"""Jobs that pods stand for.

A pod that is bound stands for the job that the planner bound it for: its annotation, which nobody else writes. Its
labels are its owner's, and mean nothing then. Until its object is gone, or it has ended, it keeps what it holds.
"""

from planner.integrations.kubernetes.client import KubernetesClient, path_of
from planner.integrations.kubernetes.config import Object
from planner.integrations.kubernetes.informer import Informer
from planner.integrations.kubernetes.pods import Pod, job_of


class Holders:
    """Pods by job, as an informer of all pods shows them, or asked anew."""

    def __init__(self, api: KubernetesClient, pods: Informer) -> None:
        self._api, self._pods = api, pods
        self._objects: dict[tuple[str, str], Object] = {}
        self._jobs = frozenset[str]()
        """of `_objects`"""

    def jobs(self) -> frozenset[str]:
        """Jobs that live pods stand for, as of the last look."""
        objects = self._pods.objects
        if objects is not self._objects:
            self._jobs = frozenset(job_of(pod) for pod in map(Pod, objects.values()) if not pod.is_over)
            self._objects = objects
        return self._jobs

    def has(self, job: str) -> bool:
        """True if pods stand for a job now. None in the informer: the API is asked, since a pod is bound, and a gang
        planned, before the informer shows it; ApiError."""
        if job in self.jobs():
            return True
        path = path_of("v1", "pods", job.split("/")[0])
        items, _ = self._api.list(path, lambda item: job_of(Pod(item)) == job and not Pod(item).is_over)
        return bool(items)

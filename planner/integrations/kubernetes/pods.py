"""Pods that take accelerators: which they have, and the job that they stand for."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from planner.integrations.kubernetes.config import Object
from planner.integrations.kubernetes.pod_assignment import ASSIGNMENT, GANG, JOB, VISIBLE, PodAssignment, written
from planner.integrations.kubernetes.pod_groups import PodGroupError, accelerators_of, job_name

MIDDLE = "pods"
"""between namespace and name of the gang in the name of its job: no Workload has such a name"""


@dataclass(frozen=True)
class Pod:
    """One object of the API."""

    item: Object

    @property
    def namespace(self) -> str:
        return str(self.item["metadata"].get("namespace") or "default")

    @property
    def name(self) -> str:
        return str(self.item["metadata"]["name"])

    @property
    def uid(self) -> str:
        return str(self.item["metadata"].get("uid") or "")

    @property
    def labels(self) -> dict[str, str]:
        return self.item["metadata"].get("labels") or {}

    @property
    def annotations(self) -> dict[str, str]:
        return self.item["metadata"].get("annotations") or {}

    @property
    def spec(self) -> Object:
        return self.item.get("spec") or {}

    @property
    def node(self) -> str:
        """The node that it is bound to; empty for none yet."""
        return str(self.spec.get("nodeName") or "")

    @property
    def is_over(self) -> bool:
        """True if it has given back its accelerators; a pod that is being deleted has not."""
        return (self.item.get("status") or {}).get("phase") in ("Succeeded", "Failed")

    @property
    def is_leaving(self) -> bool:
        """True if it is being deleted."""
        return bool(self.item["metadata"].get("deletionTimestamp"))

    @property
    def indices(self) -> frozenset[int]:
        """Accelerators that it may use on its node: all of its job there, where it was not told its own."""
        try:
            if VISIBLE in self.annotations:
                return frozenset(map(int, self.annotations[VISIBLE].split(",")))
            assignments = written(self.annotations.get(ASSIGNMENT, "[]"))
        except ValueError:
            return frozenset()
        return frozenset(index for one in assignments if one.node == self.node for index in one.indices)


def takes_any(item: Object, resources: Sequence[str]) -> bool:
    """True if a pod takes accelerators and has not ended: annotations of others mean nothing."""
    try:
        return not Pod(item).is_over and accelerators_of(Pod(item).spec, resources) > 0
    except PodGroupError:
        return True


def bound(items: Iterable[Object], resources: Sequence[str]) -> Iterator[Pod]:
    """Pods on nodes that take accelerators and have not ended."""
    return (pod for pod in map(Pod, items) if pod.node and takes_any(pod.item, resources))


def in_the_way(assignments: Iterable[PodAssignment], pods: Iterable[Pod], mine: str = "") -> Pod | None:
    """A bound pod that still has accelerators of these assignments; `mine` is a uid that is not in its own way."""
    wanted: dict[str, set[int]] = {}
    for assignment in assignments:
        wanted.setdefault(assignment.node, set()).update(assignment.indices)
    for pod in pods:
        if pod.uid != mine and not pod.indices.isdisjoint(wanted.get(pod.node, ())):
            return pod
    return None


def num_taken(node: str, pods: Iterable[Pod], resources: Sequence[str], mine: str = "") -> int:
    """Accelerators of a node that bound pods take, whoever placed them; `mine`: a uid that is not counted."""
    total = 0
    for pod in pods:
        if pod.node == node and pod.uid != mine:
            with suppress(PodGroupError):
                total += accelerators_of(pod.spec, resources)
    return total


def annotated_job(pod: Pod) -> str:
    """The job that an annotation names, if it is one of the pod's own namespace; else nothing."""
    job = pod.annotations.get(JOB, "")
    return job if job.startswith(f"{pod.namespace}/") else ""


def is_gang(job: str) -> bool:
    return job.split("/")[1:2] == [MIDDLE] and job.count("/") > 1


def gang_job(pod: Pod) -> str:
    """Name of the job of a pod's gang."""
    return job_name(pod.namespace, MIDDLE, pod.labels.get(GANG, ""))


def job_of(pod: Pod) -> str:
    """The job that a pod stands for: on a node, the one that the planner has bound it for; before, the one of its
    Workload, or of the gang that its label names. Nothing: none."""
    job = annotated_job(pod)
    if pod.node or (job and not is_gang(job)):
        return job
    return gang_job(pod) if GANG in pod.labels else ""

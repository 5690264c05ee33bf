"""Elastic jobs of Kueue (KEP 77): one that shrinks gives back what pods that are gone had, one that grows gets more
beside its own.

Kueue writes a smaller number into the Workload that is admitted, and the owner of the pods deletes some of them. The
accelerators of a pod are free once its object is gone, and not before. For a larger number it makes another Workload,
a slice, and marks the one before as finished once the new one has quota, before any check has answered. Pods run on
meanwhile; those that are added have a scheduling gate until the new slice is admitted, and are made from the template
that the first admission stamped. A check that rejects a slice would stop all pods: it waits instead.
"""

from collections.abc import Container, Iterable, Sequence

from planner.controller.controller import Controller
from planner.controller.resized import changed
from planner.controller.view import JobState
from planner.integrations.kubernetes.gang_lifecycle import assignment_key, by_key
from planner.integrations.kubernetes.jobs import grown
from planner.integrations.kubernetes.pod_assignment import VISIBLE, PodAssignment
from planner.integrations.kubernetes.pod_groups import PodGroup
from planner.integrations.kubernetes.pods import Pod, annotated_job
from planner.integrations.kubernetes.workloads import Workload
from planner.placement.placement import Place


def current(slices: Sequence[Workload]) -> Workload:
    """Of the Workloads of one job the one that counts: the last one with quota, else the last one that is not finished.

    It stands for the job while another waits for quota, and no more once another has it.
    """
    live = [one for one in slices if not one.condition("Finished")] or slices
    given = [one for one in live if one.condition("QuotaReserved")] or live
    replaced = {one.replaces for one in given}
    last = [one for one in given if f"{one.namespace}/{one.name}" not in replaced] or given
    return max(last, key=lambda one: (str(one.item["metadata"].get("creationTimestamp")), one.name))


def with_own_jobs(slices: Sequence[Workload], jobs: Container[str]) -> list[Workload]:
    """Slices that have a job each: a release that knew no slices has named it after the Workload, and its pods run."""
    alone = (Workload(one.item, is_of_before=True) for one in slices if one.is_elastic)
    return [one for one in alone if one.job in jobs]


def resized(controller: Controller, pod_group: PodGroup, job: JobState) -> str:
    """Why the job of pods that run goes on as it is; nothing where it is as large as was asked for, or larger: it then
    gives back what pods leave. One that waits to grow may have grown since it was looked at."""
    if job.growth is not None:
        job = controller.job(job.request.name)
    if job.place is None:
        return "its place is lost"
    if not pod_group.is_elastic:
        return "it has been changed, and is no elastic job with one pod set that takes accelerators"
    if others := changed(job.request, pod_group.request):
        return f"it has been changed in more than the number of pods, in {' and '.join(others)}"
    return "" if len(job.place.devices) >= pod_group.pods * pod_group.each else grown(controller, pod_group, job)


def stays(pod: Pod, job: str, assignments: Iterable[PodAssignment]) -> bool:
    """True if a bound pod is of this job and runs on where the job is."""
    return annotated_job(pod) == job and assignment_key(pod) in by_key(assignments) and not pod.is_leaving


def unasked(workload: Workload, pods: Iterable[Pod]) -> list[str]:
    """Names of bound pods of an elastic job that the extender has not bound: it tells each its accelerators."""
    if not workload.is_elastic:
        return []
    own = (pod for pod in pods if annotated_job(pod) == workload.job and not pod.is_leaving)
    return sorted(pod.name for pod in own if VISIBLE not in pod.annotations)


def is_part(place: Place, admitted: str) -> bool:
    """True if a place has some of the accelerators that were admitted, in their order, and no others."""
    devices, names = admitted.split(","), {*place.device_names}
    return len(names) < len(devices) and [name for name in devices if name in names] == [*place.device_names]


def still_held(admitted: Sequence[PodAssignment], now: Sequence[PodAssignment]) -> tuple[PodAssignment, ...] | None:
    """Of the assignments that pods were told those of a job that has become smaller, with the ranks that they were
    told; None where its place is another one."""
    here = by_key(now)
    found = tuple(one for one in admitted if (one.node, one.visible) in here)
    return found if len(found) == len(now) < len(admitted) else None


def left(now: Sequence[PodAssignment], job: str, pods: Iterable[Pod], wanted: int) -> list[PodAssignment]:
    """Assignments of the pods that are left, where these are as many as are wanted, and fewer than there were; else
    none. `pods` are bound: one that is being deleted is there still."""
    own = (pod for pod in pods if annotated_job(pod) == job and VISIBLE in pod.annotations)
    here = by_key(now).keys() & {assignment_key(pod) for pod in own}
    found = [one for one in now if (one.node, one.visible) in here]
    return found if 0 < len(found) == wanted < len(now) else []

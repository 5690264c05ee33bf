"""Elastic jobs of Kueue: one that shrinks gives back the accelerators of the pods that are gone.

Kueue writes the smaller number into the Workload that is admitted, and the owner of the pods deletes some of them. The
accelerators of a pod are free once its object is gone, and not before. Growing makes another Workload (a slice), which
is refused.
"""

from collections.abc import Iterable, Sequence

from planner.integrations.kubernetes.gang_lifecycle import assignment_key, by_key
from planner.integrations.kubernetes.pod_assignment import VISIBLE, PodAssignment
from planner.integrations.kubernetes.pods import Pod, annotated_job
from planner.placement.placement import Place


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

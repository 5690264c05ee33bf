"""Replace the pods that a failure took, and leave the others of the job where they are.

Pods are told their ranks once, with their admission. A job that was placed anew on nodes most of which it had before
keeps the pods there, and those that are made in place of the others take the rest of its place, and their ranks. That
is right where any node may have any ranks: on packets. Circuits join the ranks that they were planned for.
"""

from collections.abc import Sequence
from dataclasses import replace

from planner.integrations.kubernetes.config import DOMAIN, Object
from planner.integrations.kubernetes.pod_assignment import ASSIGNMENT, PodAssignment, told, written

HOT_SWAP = f"{DOMAIN}/hot-swap"
"""annotation of pods that may be replaced one by one"""


def swapped(admitted: Sequence[PodAssignment], now: Sequence[PodAssignment]) -> tuple[PodAssignment, ...] | None:
    """Where the pods that were admitted are, or go, in the order in which they were told, with their own ranks.

    `now`: the place of the job. None where no pod stays, or these are not all pods of the job."""
    free = {(one.node, one.indices): one for one in now}
    kept = [free.pop((one.node, one.indices), None) for one in admitted]
    if len(admitted) != len(now) or not any(kept):
        return None
    rest = iter(free.values())
    return tuple(replace(stays or next(rest), ranks=one.ranks) for stays, one in zip(kept, admitted, strict=True))


def admitted_in(updates: Sequence[Object]) -> tuple[PodAssignment, ...]:
    """Assignments that were told with the admission of a Workload, if they are of one pod set that no selector binds to
    a node; else none."""
    found = [(text, one) for one in updates if (text := told(one, ASSIGNMENT)) is not None]
    if len(found) != 1 or "nodeSelector" in found[0][1]:
        return ()
    try:
        return written(found[0][0])
    except ValueError:
        return ()

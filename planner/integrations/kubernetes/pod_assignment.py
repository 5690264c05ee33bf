"""Pod assignment: the accelerators of a job, cut into pods node by node."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain, count

from planner.integrations.kubernetes.annotation_text import MOST_OF_OBJECT, num_bytes, packed, unpacked
from planner.integrations.kubernetes.config import DOMAIN, KubernetesSite, Object
from planner.integrations.kubernetes.pod_groups import PodGroup, PodGroupError
from planner.placement.placement import Place

JOB, GANG, DEVICES = f"{DOMAIN}/job", f"{DOMAIN}/gang", f"{DOMAIN}/devices"
ELASTIC = f"{DOMAIN}/elastic"
"""annotation of pods that may be told a place that their job has grown out of: each takes what is free of it now"""
ASSIGNMENT, VISIBLE = f"{DOMAIN}/assignment", f"{DOMAIN}/cuda-visible-devices"
OWN = (JOB, DEVICES, ASSIGNMENT, VISIBLE)
"""annotations that the planner writes"""
PLANNED = "planned"
"""value of the label of pods whose place stands in their template"""
KEPT_FREE = 8 * 2**10
"""bytes of annotations of a pod that are left for others, as for those that it gets when it is bound"""
MOST_UPDATES = 2**20
"""bytes of all annotations of the updates of one Workload: etcd takes objects of 1.5 MiB"""


class SplitError(ValueError):
    """A node gives a part of a pod."""


@dataclass(frozen=True)
class PodAssignment:
    """Node, accelerators and circuits of one pod."""

    node: str
    indices: tuple[int, ...]
    """of accelerators on the node, in the order of ranks"""
    ranks: tuple[int, ...]
    """of the job"""

    @property
    def visible(self) -> str:
        """As CUDA_VISIBLE_DEVICES has it."""
        return ",".join(map(str, self.indices))

    def body(self) -> Object:
        return {"node": self.node, "indices": list(self.indices), "ranks": list(self.ranks)}


def pod_assignments_of(place: Place, each: int, site: KubernetesSite) -> tuple[PodAssignment, ...]:
    """Assignments of a job's pods by first rank, `each` accelerators a pod; SplitError where a node gives no whole
    number of pods."""
    on_nodes: dict[str, list[tuple[int, int]]] = {}
    for rank, device in enumerate(place.devices):
        node, index = site.on_node(*device)
        on_nodes.setdefault(node, []).append((rank, index))
    assignments = []
    for node, given in on_nodes.items():
        if len(given) % each:
            raise SplitError(f"{node} would give {len(given)} accelerators, no multiple of the {each} of a pod")
        for first in range(0, len(given), each):
            ranks, indices = zip(*given[first : first + each], strict=True)
            assignments.append(PodAssignment(node, indices, ranks))
    return tuple(sorted(assignments, key=lambda assignment: assignment.ranks[0]))


def updates_of(pod_group: PodGroup, place: Place, site: KubernetesSite, label: Callable[[str], str]) -> list[Object]:
    """`podSetUpdates` of an admission check: where the pods of each set go; SplitError, or PodGroupError where objects
    cannot hold that. `label`: value of the label of a node that selectors go by."""
    rest = pod_assignments_of(place, pod_group.each, site)
    updates = []
    for one in pod_group.sets:
        assignments, rest = rest[: one.pods], rest[one.pods :]
        devices, assignment = _keys(pod_group)
        annotations = {
            JOB: pod_group.request.name,
            devices: packed(devices_of(place)),
            assignment: packed(json.dumps([each.body() for each in assignments], separators=(",", ":"))),
        }
        if pod_group.is_elastic:
            annotations[ELASTIC] = "true"
        elif len(assignments) == 1:
            annotations[VISIBLE] = assignments[0].visible
        update: Object = {"name": one.name, "labels": {GANG: PLANNED}, "annotations": annotations}
        nodes = {assignment.node for assignment in assignments}
        if len(nodes) == 1 and not pod_group.is_elastic:
            update["nodeSelector"] = {site.config.node_label: label(nodes.pop())}
        updates.append(update)
    _require_room(updates, pod_group)
    return updates


def _keys(pod_group: PodGroup) -> tuple[str, str]:
    """Annotations for devices and assignments that its template has not yet: where an elastic job is stopped after it
    has grown, Kueue leaves those of before there, and takes no other value for a key."""
    names = ((f"{DEVICES}-{number}", f"{ASSIGNMENT}-{number}") for number in count(2))
    return next(each for each in chain([(DEVICES, ASSIGNMENT)], names) if pod_group.told_before.isdisjoint(each))


def told(update: Object, name: str) -> str | None:
    """What an update says under an annotation, or under one that stands for it; None for nothing."""
    annotations: dict[str, str] = update.get("annotations") or {}
    return next((text for key, text in annotations.items() if key == name or key.startswith(f"{name}-")), None)


def _require_room(updates: list[Object], pod_group: PodGroup) -> None:
    """PodGroupError where a pod, or the Workload, cannot hold what they are to be told."""
    sizes = [num_bytes(update["annotations"]) for update in updates]
    room = MOST_OF_OBJECT - KEPT_FREE - pod_group.annotated_bytes
    if max(sizes) > room:
        problem = f"the place of {pod_group.pods} pods takes {max(sizes)} bytes of annotations of each"
        raise PodGroupError(f"{problem}, and {max(room, 0)} are left; ask for fewer pods, or annotate them less")
    if sum(sizes) > MOST_UPDATES:
        problem = f"the places of {len(sizes)} pod sets take {sum(sizes)} bytes, and a Workload holds {MOST_UPDATES}"
        raise PodGroupError(f"{problem}; put the pods into fewer pod sets")


def devices_of(place: Place) -> str:
    """Devices of a place by rank."""
    return ",".join(place.device_names)


def devices_in(updates: object) -> str | None:
    """Devices that `podSetUpdates` named, as `devices_of` does; None where they are not ours."""
    for update in updates if isinstance(updates, list) else ():
        found = told(update, DEVICES)
        if found is not None:
            try:
                return unpacked(found)
            except ValueError:
                return found
    return None


def written(text: str) -> tuple[PodAssignment, ...]:
    """Assignments as an annotation has them; ValueError for anything else."""
    try:
        return tuple(
            PodAssignment(str(one["node"]), tuple(map(int, one["indices"])), tuple(map(int, one["ranks"])))
            for one in json.loads(unpacked(text))
        )
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError):
        raise ValueError(f"{ASSIGNMENT} is not what the planner wrote") from None

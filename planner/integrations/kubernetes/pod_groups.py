"""Pod groups: what pods ask for as one job of a controller; a pod lies on one node, so each server gives whole pods."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from planner.controller.settings import Request
from planner.integrations.kubernetes.config import DOMAIN, Kubernetes, KubernetesSite, Object
from planner.integrations.kubernetes.nodes_by_rack import nodes_by_rack, pods_of_node, servers_by_rack
from planner.model.errors import InputError
from planner.model.files import validate

MOST_NAME = 100
"""characters of the name of a job"""
MOST_PRIORITY = 1_000_000
"""priorities beyond it count as it"""


class PodGroupError(ValueError):
    """Pods that can never run here; the text gives the reason, and the remedy."""


@dataclass(frozen=True)
class PodSet:
    """Pods that are alike."""

    name: str
    pods: int
    each: int
    """accelerators of one pod"""


@dataclass(frozen=True)
class PodGroup:
    """All pods of one job that take accelerators, as many each."""

    sets: tuple[PodSet, ...]
    request: Request
    even: tuple[Request, ...] = ()
    """the same with k pods on each server, the most first: for where the first was split within a pod"""
    annotated_bytes: int = 0
    """that the annotations of one pod have before the planner adds its own"""
    is_elastic: bool = False
    """whether it may have more or fewer pods while it runs, all of one pod set"""
    told_before: frozenset[str] = frozenset()
    """keys of annotations that its template has already"""

    @property
    def requests(self) -> tuple[Request, ...]:
        """All forms in which it is submitted."""
        return self.request, *self.even

    @property
    def whole(self) -> tuple[Request, ...]:
        """The forms in which each server gives whole pods."""
        return tuple(one for one in self.requests if self.each == 1 or one.constraints.per_server is not None)

    @property
    def each(self) -> int:
        return self.sets[0].each

    @property
    def pods(self) -> int:
        return sum(each.pods for each in self.sets)


def pod_group_of(
    sets: Sequence[PodSet], about: Mapping[str, Any], annotations: Mapping[str, str], site: KubernetesSite
) -> PodGroup:
    """One job of these pods; `about` holds fields of its Request.

    Where a server has room for several pods, any number of them may share one: the planner spreads accelerators freely,
    and only where that splits a pod is every server to give as many as the others. Where a server is several nodes,
    a job asks for as many accelerators as whole servers have, or where these are hosts that it takes whole, as whole
    nodes have.
    """
    sizes = {each.each for each in sets}
    if len(sizes) > 1:
        listed = " and ".join(map(str, sorted(sizes)))
        raise PodGroupError(f"some pods ask for {listed} accelerators; give all that take any the same number")
    (each,), pods = sizes, sum(one.pods for one in sets)
    if each > site.per_node:
        raise PodGroupError(
            f"a pod asks for {each} accelerators and a node has {site.per_node}; ask for fewer in more pods"
        )
    per_node, racks = _pods_per_node(annotations, pods, each, site.per_node), None
    try:
        if (by_rack := nodes_by_rack(annotations)) is not None:
            per_node = pods_of_node(by_rack, pods, each, per_node, site)
            racks = servers_by_rack(by_rack, site)
    except ValueError as error:
        raise PodGroupError(str(error)) from None
    is_shared = site.nodes_per_server > 1
    free, counts = (_whole_servers if is_shared else _any_servers)(pods, each, per_node, site)
    known = dict(about) | {"accelerators": pods * each, "workload": _workload(annotations, site.config)}
    known |= {key: _flag(annotations, key, default) for key, default in (("movable", False), ("preemptible", True))}
    return PodGroup(tuple(sets), _request(known, free, racks), tuple(_request(known, count) for count in counts))


def _any_servers(pods: int, each: int, per_node: int, site: KubernetesSite) -> tuple[int | None, list[int]]:
    """Accelerators of each server in the first form of a job, None for any, and in its even forms."""
    free = per_node * each if per_node else each if pods == 1 or 2 * each > site.per_server else None
    is_free = free is None and each > 1
    counts = [k for k in range(min(pods, site.per_server // each), 0, -1) if pods % k == 0] if is_free else []
    return free, [k * each for k in counts]


def _whole_servers(pods: int, each: int, per_node: int, site: KubernetesSite) -> tuple[int | None, list[int]]:
    """As `_any_servers`, where a server is several nodes; PodGroupError unless the pods fill nodes and servers."""
    if site.per_node % each or per_node * each not in (0, site.per_node):
        problem = f"pods of {each} accelerators do not fill a node of {site.per_node}"
        raise PodGroupError(f"{problem}; ask for all, or an equal share")
    if site.has_hosts:
        if pods * each % site.per_node:
            problem = f"{pods} pods ask for {pods * each} accelerators, and nodes of {site.per_node} are taken whole"
            raise PodGroupError(f"{problem}; ask for a multiple of that")
        return None, []
    if pods * each % site.per_server:
        problem = f"{pods} pods ask for {pods * each} accelerators, and a server is {site.nodes_per_server} nodes"
        raise PodGroupError(f"{problem} with {site.per_server} together, taken whole; ask for a multiple of that")
    return (site.per_server, []) if per_node else (None, [site.per_server])


def _request(known: Mapping[str, Any], per_server: int | None, servers_by_rack: Any = None) -> Request:
    limits = {"per_server": per_server} | ({} if servers_by_rack is None else {"servers_by_rack": servers_by_rack})
    constraints = {} if per_server is None else {"constraints": limits}
    try:
        return validate(Request, {**known, **constraints}, "job")
    except InputError as error:
        raise PodGroupError(str(error)) from None


def _pods_per_node(annotations: Mapping[str, str], pods: int, each: int, per_server: int) -> int:
    """As the user says, 0 where nothing is said."""
    key = f"{DOMAIN}/pods-per-node"
    text = annotations.get(key)
    if text is None:
        return 0
    per_node = whole_number(text)
    if not per_node or per_node * each > per_server or pods % per_node:
        raise PodGroupError(
            f"{key}: '{text}' must divide the {pods} pods, and at most {per_server // each} pods fit on a node"
        )
    return per_node


def _workload(annotations: Mapping[str, str], of: Kubernetes) -> Any:
    key = f"{DOMAIN}/workload"
    name = annotations.get(key, of.default_workload)
    known = ", ".join(sorted(of.workloads)) or "none yet"
    if name is None:
        raise PodGroupError(f"annotation {key} is missing; name one of: {known}")
    if name not in of.workloads:
        raise PodGroupError(f"{key}: no workload '{name[:100]}' is known; name one of: {known}")
    return of.workloads[name]


def _flag(annotations: Mapping[str, str], key: str, default: bool) -> bool:
    text = annotations.get(f"{DOMAIN}/{key}", str(default).lower())
    if text not in ("true", "false"):
        raise PodGroupError(f'{DOMAIN}/{key}: \'{text[:100]}\' is neither "true" nor "false"')
    return text == "true"


def accelerators_of(spec: Object, resources: Sequence[str]) -> int:
    """Accelerators of a pod: those of containers that run together, or what an init container takes, with the sidecars
    that started before it (Kubernetes: PodRequests)."""
    sidecars = most = 0
    for container in spec.get("initContainers") or ():
        number = _of_container(container, resources)
        most = max(most, sidecars + number)
        sidecars += number if container.get("restartPolicy") == "Always" else 0
    return max(most, sidecars + sum(_of_container(container, resources) for container in spec.get("containers") or ()))


def _of_container(container: Object, resources: Sequence[str]) -> int:
    asked = container.get("resources") or {}
    amounts = {**(asked.get("limits") or {}), **(asked.get("requests") or {})}
    total = 0
    for resource in resources:
        if resource in amounts:
            number = whole_number(str(amounts[resource]))
            if number is None:
                raise PodGroupError(f"{resource}: '{amounts[resource]}' is no whole number")
            total += number
    return total


def whole_number(text: str) -> int | None:
    """The number that a text is, if it has fewer than ten digits and nothing else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def job_name(*parts: str) -> str:
    """Name of a job: namespace and name; where that is too long, its beginning and a fingerprint."""
    name = "/".join(parts)
    if len(name) <= MOST_NAME:
        return name
    return f"{name[: MOST_NAME - 17]}~{sha256(name.encode()).hexdigest()[:16]}"


def clipped(priority: object) -> int:
    """A priority of Kubernetes as one of the planner."""
    return max(-MOST_PRIORITY, min(MOST_PRIORITY, int(str(priority or 0))))

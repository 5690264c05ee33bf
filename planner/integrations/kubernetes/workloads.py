"""A Workload of Kueue: what it asks for, and what is to be known of its state."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import Any

from planner.integrations.kubernetes.annotation_text import num_bytes
from planner.integrations.kubernetes.config import DOMAIN, Kubernetes, KubernetesSite, Object
from planner.integrations.kubernetes.hot_swap import HOT_SWAP
from planner.integrations.kubernetes.pod_assignment import GANG, OWN, PLANNED
from planner.integrations.kubernetes.pod_groups import (
    PodGroup,
    PodGroupError,
    PodSet,
    accelerators_of,
    clipped,
    job_name,
    pod_group_of,
)

ELASTIC_JOB = "kueue.x-k8s.io/elastic-job"
"""annotation of the Workloads of a job that may grow and shrink, since Kueue 0.14"""
REPLACES = "kueue.x-k8s.io/workload-slice-replacement-for"
"""annotation of the Workload of an elastic job that has grown: namespace and name of the one whose pods run on"""
BY_CHECK = "AdmissionCheck"
"""reason of an eviction that a check asked for"""


@dataclass(frozen=True)
class Workload:
    """One object of the API."""

    item: Object
    is_of_before: bool = False
    """whether a release that knew no slices has named its job after it alone"""

    @cached_property
    def namespace(self) -> str:
        return str(self.item["metadata"]["namespace"])

    @cached_property
    def name(self) -> str:
        return str(self.item["metadata"]["name"])

    @cached_property
    def job(self) -> str:
        """Name of its job in the controller: all Workloads of the owner of an elastic job are slices of one."""
        if not self.is_elastic:
            return job_name(self.namespace, self.name)
        owner = self._owner
        return job_name(self.namespace, f"{owner['name']}~{sha256(str(owner['uid']).encode()).hexdigest()[:8]}")

    @property
    def is_elastic(self) -> bool:
        """True if its owner may ask for more or fewer pods while they run."""
        return not self.is_of_before and self._about.get(ELASTIC_JOB) == "true" and bool(self._owner)

    @property
    def replaces(self) -> str:
        """Namespace and name of the Workload whose pods it takes over; nothing for none."""
        return str(self._about.get(REPLACES, ""))

    @property
    def _about(self) -> Mapping[str, str]:
        return self.item["metadata"].get("annotations") or {}

    @cached_property
    def _owner(self) -> Object:
        """The Job that it was made for; empty for none."""
        owners: list[Object] = self.item["metadata"].get("ownerReferences") or []
        return next((one for one in owners if one.get("controller")), {})

    @property
    def spec(self) -> Object:
        return self.item.get("spec") or {}

    @property
    def status(self) -> Object:
        return self.item.get("status") or {}

    @property
    def is_active(self) -> bool:
        return self.spec.get("active") is not False and not self.item["metadata"].get("deletionTimestamp")

    @property
    def has_hot_swap(self) -> bool:
        """True if all its pods say so: those that a failure took are replaced, and the others run on."""
        templates = [one["template"].get("metadata") or {} for one in self.spec.get("podSets") or ()]
        return all((about.get("annotations") or {}).get(HOT_SWAP) == "true" for about in templates)

    def condition(self, kind: str) -> Object | None:
        """A condition that holds."""
        for one in self.status.get("conditions") or ():
            if one.get("type") == kind and one.get("status") == "True":
                found: Object = one
                return found
        return None

    def check(self, name: str) -> Object | None:
        """State of an admission check; None where the Workload does not pass it."""
        for one in self.status.get("admissionChecks") or ():
            if one.get("name") == name:
                found: Object = one
                return found
        return None

    def for_each_pod_set(self, updates: Iterable[Object]) -> list[Object]:
        """Updates with an empty one for each pod set that has none: some releases of Kueue take all or none."""
        given = {one["name"]: one for one in updates}
        names = (str(one.get("name") or "main") for one in self.spec.get("podSets") or ())
        return [given.get(name, {"name": name}) for name in names]

    def pod_group(self, site: KubernetesSite) -> PodGroup | None:
        """Its pods as one group; None for no accelerators; PodGroupError where it can never run."""
        of = site.config
        sets = [one for one in map(self._pod_set(of), self.spec.get("podSets") or ()) if one.pods and one.each]
        if not sets:
            return None
        queue = str(self.spec.get("queueName") or "")
        limit = self.spec.get("maximumExecutionTimeSeconds")
        about: dict[str, Any] = {
            "name": self.job,
            "tenant": self.namespace if of.tenant == "namespace" else f"{self.namespace}/{queue}",
            "priority": clipped(self.spec.get("priority")),
            "duration_s": None if limit is None else float(limit),
        }
        self._require_free_choice(of)
        if self.replaces and not self.is_elastic:
            raise PodGroupError(f"{REPLACES}: only what has {ELASTIC_JOB} and an owner grows; use Kueue 0.14 or newer")
        if self.annotations.get(HOT_SWAP, "true") not in ("true", "false"):
            raise PodGroupError(f'{HOT_SWAP}: \'{self.annotations[HOT_SWAP][:100]}\' is neither "true" nor "false"')
        pod_group = pod_group_of(sets, about, self.annotations, site)
        is_elastic = self.is_elastic and len(sets) == 1
        about = {"annotated_bytes": self._annotated_bytes, "is_elastic": is_elastic}
        return replace(pod_group, **about, told_before=self._keys if is_elastic else frozenset())

    @property
    def _annotated_bytes(self) -> int:
        """The most that the template of a pod set has."""
        templates = [one["template"].get("metadata") or {} for one in self.spec.get("podSets") or ()]
        return max((num_bytes(about.get("annotations") or {}) for about in templates), default=0)

    @property
    def _keys(self) -> frozenset[str]:
        """Of all annotations of its templates."""
        templates = (one["template"].get("metadata") or {} for one in self.spec.get("podSets") or ())
        return frozenset(key for about in templates for key in about.get("annotations") or {})

    def _pod_set(self, of: Kubernetes) -> Any:
        assigned = (self.status.get("admission") or {}).get("podSetAssignments") or ()
        admitted: dict[str, int] = {one.get("name"): one["count"] for one in assigned if one.get("count") is not None}

        def read(one: Object) -> PodSet:
            name = str(one.get("name") or "main")
            count = int(one.get("count", 1))
            pods = min(admitted.get(name, count), count)
            return PodSet(name, pods, accelerators_of(one["template"].get("spec") or {}, of.resources))

        return read

    def _require_free_choice(self, of: Kubernetes) -> None:
        """PodGroupError where a template says what the planner is to say: Kueue would refuse to start it for that."""
        for one in self.spec.get("podSets") or ():
            about = one["template"].get("metadata") or {}
            named = [key for key in OWN if key in (about.get("annotations") or {})] if not self.is_elastic else []
            if (about.get("labels") or {}).get(GANG, PLANNED) != PLANNED:
                named.append(GANG)
            if named:
                raise PodGroupError(f"{', '.join(named)}: the planner writes it; leave it out of the template")
            if of.node_label in ((one["template"].get("spec") or {}).get("nodeSelector") or {}):
                raise PodGroupError(f"nodeSelector: {of.node_label}: the planner chooses nodes; leave it out")

    @cached_property
    def annotations(self) -> Mapping[str, str]:
        """Ours, on the Workload or the templates of its pods."""
        found: dict[str, str] = {}
        templates = [one["template"].get("metadata") or {} for one in self.spec.get("podSets") or ()]
        for about in (self.item["metadata"], *templates):
            for key, text in (about.get("annotations") or {}).items():
                if key.startswith(f"{DOMAIN}/") and found.setdefault(key, str(text)) != text:
                    raise PodGroupError(f"annotation {key} is given twice, and differs; keep one")
        return found

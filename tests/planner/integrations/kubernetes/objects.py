"""Objects of an emulated Kubernetes API: what tests and other controllers write, while no request is served."""

import copy
from collections.abc import Callable
from typing import Any

import attrs
import kmock

from tests.planner.integrations.kubernetes.guards import Guards
from tests.planner.integrations.kubernetes.history import Change, History
from tests.planner.integrations.kubernetes.published import Refused, require_published
from tests.planner.integrations.kubernetes.stored import stored

WORKLOADS = "kueue.x-k8s.io/v1beta2/workloads"
CHECKS = "kueue.x-k8s.io/v1beta2/admissionchecks"
SLICES = "accelerator.gke.io/v1beta1/slices"
PODS, NODES = "v1/pods", "v1/nodes"
KINDS = {
    "workloads": "Workload", "admissionchecks": "AdmissionCheck", "pods": "Pod", "nodes": "Node", "slices": "Slice",
}  # fmt: skip
TERMINATING = "2027-01-15T08:00:00Z"
IMMUTABLE = ("uid", "name", "namespace", "creationTimestamp", "generation", "deletionTimestamp")
"""of metadata: nobody writes it"""


@attrs.define(kw_only=True)
class Objects(kmock.KubernetesEmulator):
    """They have versions and a history, are of the published form, and go when nothing keeps them any more."""

    history: History = attrs.field(factory=History)
    guards: Guards

    @property
    def version(self) -> int:
        return self.history.version

    @property
    def events(self) -> list[Change]:
        return self.history.changes

    def create(self, resource: str, namespace: str | None, item: dict[str, Any]) -> dict[str, Any]:
        """Create an object as a request asks for it: its status is not taken."""
        about = item.setdefault("metadata", {})
        if not about.get("name") and about.get("generateName"):
            about["name"] = f"{about['generateName']}{self.version:05x}"
        if about.setdefault("namespace", namespace) != namespace:
            raise Refused(400, "BadRequest", "the namespace of the object does not match the namespace of the request")
        if namespace is None:
            del about["namespace"]
        item.pop("status", None)
        if self.get(resource, namespace, str(about.get("name"))) is not None:
            raise Refused(409, "AlreadyExists", f'{resource} "{about["name"]}" already exists')
        self.put(resource, item)
        return copy.deepcopy(item)

    def put(self, resource: str, item: dict[str, Any]) -> None:
        """Create an object, or replace all of it."""
        about = item["metadata"]
        item.setdefault("apiVersion", resource.rpartition("/")[0])
        item.setdefault("kind", KINDS[resource.rpartition("/")[2]])
        require_published(item)
        known = self.get(resource, about.get("namespace"), about["name"])
        self.history.version += 1
        stored(item, self.version)
        about["resourceVersion"] = str(self.version)
        key = resource, about.get("namespace"), about["name"]
        if key in self.objects:
            self.objects[key].create(item)
        else:
            self.objects[key] = item
        self._note(resource, known, item)

    def _note(self, resource: str, before: Any, after: Any) -> None:
        self.history.note(kmock.resource(resource), before, after)

    def change(self, resource: str, namespace: str | None, name: str, **parts: Any) -> dict[str, Any]:
        """Merge into an object; what changes nothing is no write. One that nothing keeps any more goes."""
        before = self.get(resource, namespace, name)
        assert before is not None
        merged = merge(before, parts)
        require_published(merged)
        if merged == before:
            return before
        if merged.get("spec") != before.get("spec"):
            merged["metadata"]["generation"] = int(before["metadata"].get("generation") or 0) + 1
        self.history.version += 1
        merged["metadata"]["resourceVersion"] = str(self.version)
        self.objects[resource, namespace, name].create(merged)
        self._note(resource, before, merged)
        if (
            resource != PODS
            and merged["metadata"].get("deletionTimestamp")
            and not merged["metadata"].get("finalizers")
        ):
            self.drop(resource, namespace, name)
        return copy.deepcopy(merged)

    def edit(self, user: str, resource: str, namespace: str | None, name: str, **parts: Any) -> dict[str, Any]:
        """Merge into an object what somebody asks for; Refused by the policy, or for what nobody changes."""
        before = self._known(kmock.resource(resource), namespace, name).last.raw
        after = merge(before, parts)
        for key in IMMUTABLE:
            if before["metadata"].get(key) != after["metadata"].get(key):
                raise Refused(422, "Invalid", f"metadata.{key}: field is immutable")
        if resource == PODS:
            if before["spec"] != after["spec"]:
                raise Refused(422, "Invalid", "spec: pod updates may not change it")
            self.guards.admit(user, "UPDATE", "pods", before, after)
        return self.change(resource, namespace, name, **parts)

    def remove(self, user: str, plural: str, namespace: str | None, name: str, grace_s: int | None = None) -> None:
        """Delete an object: one that finalizers keep goes with the last of them, a pod on a node when its kubelet has
        stopped it, or at once without grace."""
        resource = next(one for one in (PODS, SLICES) if one.endswith(plural))
        raw = self._known(kmock.resource(resource), namespace, name).last.raw
        options = {} if grace_s is None else {"gracePeriodSeconds": grace_s}
        if plural == "pods":
            self.guards.admit(user, "DELETE", plural, raw, None, options=options)
        is_running = plural == "pods" and raw["spec"].get("nodeName") and grace_s != 0
        if raw["metadata"].get("deletionTimestamp") and (is_running or raw["metadata"].get("finalizers")):
            return
        if is_running or raw["metadata"].get("finalizers"):
            about = {"deletionTimestamp": TERMINATING} | ({"deletionGracePeriodSeconds": 30} if is_running else {})
            self.change(resource, namespace, name, metadata=about)
        else:
            self.drop(resource, namespace, name)

    def drop(self, resource: str, namespace: str | None, name: str) -> None:
        before = self.get(resource, namespace, name)
        self.history.version += 1
        self.objects[resource, namespace, name].delete()
        self._note(resource, before, None)

    def get(self, resource: str, namespace: str | None, name: str) -> dict[str, Any] | None:  # type: ignore[override]
        key = kmock.resource(resource), namespace, name
        if key not in self.objects or self.objects[key].deleted:
            return None
        return copy.deepcopy(dict(self.objects[key].last.raw))

    def all(self, resource: str, keeps: Callable[[Any], bool] | None = None) -> list[dict[str, Any]]:
        """Copies of the objects of a kind, of those alone that are to be kept."""
        of = kmock.resource(resource)
        found = [obj.last.raw for (other, _, _), obj in self.objects.items() if other == of and not obj.deleted]
        return [copy.deepcopy(dict(raw)) for raw in found if keeps is None or keeps(raw)]

    def forget(self) -> None:
        """Watches from before now get 410."""
        self.history.oldest = self.version

    def _known(self, *key: Any) -> Any:
        if key not in self.objects or self.objects[key].deleted:
            raise Refused(404, "NotFound", "not found")
        return self.objects[key]


def merge(raw: Any, parts: Any) -> Any:
    """A JSON merge patch."""
    if not isinstance(parts, dict):
        return copy.deepcopy(parts)
    merged = copy.deepcopy(dict(raw)) if isinstance(raw, dict) else {}
    for key, part in parts.items():
        if part is None:
            merged.pop(key, None)
        else:
            merged[key] = merge(merged.get(key), part)
    return merged

"""An emulated Kubernetes API: kmock, with versions, conflicts, watches from a version, pages, bindings and outages.

It takes what an API server takes: objects of the published form only, from who has a right to write them, if the
admission policy of the installed manifests lets them. All that comes over HTTP comes from the planner.
"""

import asyncio
import copy
import json
from collections.abc import AsyncIterator, Callable
from functools import cache
from threading import Event, Thread
from typing import Any

import attrs
import kmock
from aiohttp import web

from planner.integrations.kubernetes.client import KubernetesClient
from planner.integrations.kubernetes.client_config import ClientConfig
from planner.integrations.kubernetes.config import Kubernetes
from planner.integrations.kubernetes.manifests import Deployment, manifests
from tests.planner.integrations.kubernetes.guards import Guards
from tests.planner.integrations.kubernetes.published import Refused, require_published

WORKLOADS = "kueue.x-k8s.io/v1beta1/workloads"
CHECKS = "kueue.x-k8s.io/v1beta1/admissionchecks"
PODS, NODES = "v1/pods", "v1/nodes"
KINDS = {"workloads": "Workload", "admissionchecks": "AdmissionCheck", "pods": "Pod", "nodes": "Node"}
PAGE = 7
"""the most that a list gives at once"""
VERBS = {"PATCH": "patch", "POST": "create", "DELETE": "delete", "PUT": "update"}
TERMINATING = "2027-01-15T08:00:00Z"
KUBELET = "system:node:n"
SEPARATE = ("status", "binding")
"""subresources that other requests do not write"""


@attrs.frozen
class Change:
    """One write: an object before it and after it, None where it was not, or is no more."""

    version: int
    resource: kmock.resource
    before: dict[str, Any] | None
    after: dict[str, Any] | None


@attrs.define(kw_only=True)
class Emulator(kmock.KubernetesEmulator):
    """What kmock leaves out of the contract that the planner rests on."""

    version: int = 0
    events: list["Change"] = attrs.field(factory=list)
    oldest: int = 0
    """versions before it are forgotten: 410"""
    is_down: bool = False
    before_write: list[Callable[[], None]] = attrs.field(factory=list)
    """what others do just before the next writes"""
    broken: str = ""
    """how the next watch ends after its first event: "cut" from the client, or with an "error" in the stream"""
    token: str = ""
    guards: Guards
    asked: list[tuple[str, str, Any]] = attrs.field(factory=list)
    """writes as (method, path, body)"""

    async def _handle(self, request: kmock.Request) -> Any:
        if self.is_down:
            raise kmock.KubernetesError(503, "ServiceUnavailable", "the server is down")
        if self.token and request.headers.get("Authorization") != f"Bearer {self.token}":
            raise kmock.KubernetesError(401, "Unauthorized", "no such token")
        try:
            self._authorize(request)
            if request.method.value in VERBS:
                self.asked.append((request.method.value, request.url.path, copy.deepcopy(request.data)))
                if self.before_write:
                    self.before_write.pop(0)()
                return web.json_response(self._write(request))
        except Refused as refused:
            raise kmock.KubernetesError(refused.status, refused.reason, refused.said) from None
        return await super()._handle(request)

    def _authorize(self, request: kmock.Request) -> None:
        resource = request.resource
        if resource is None or str(resource.plural) not in KINDS:
            raise Refused(404, "NotFound", "the server could not find the requested resource")
        plural = f"{resource.plural}/{request.subresource}" if request.subresource else str(resource.plural)
        reads = "watch" if "watch" in request.params else "get" if request.name else "list"
        self.guards.authorize((str(resource.group or ""), plural, VERBS.get(request.method.value, reads)))

    def _write(self, request: kmock.Request) -> Any:
        """Do what the planner asks, as its account."""
        raw, data = self._known(request.resource, request.namespace, request.name).last.raw, request.data
        plural = str(request.resource.plural)
        if request.subresource == "binding":
            return self._bind(request, raw, data)
        if request.method.value == "DELETE":
            if data and data["preconditions"]["uid"] != raw["metadata"].get("uid"):
                raise Refused(409, "Conflict", "the uid differs")
            self.remove(self.guards.planner, plural, request.namespace, request.name)
            return {"kind": "Status", "status": "Success"}
        if request.headers["Content-Type"] != "application/merge-patch+json":
            raise Refused(415, "UnsupportedMediaType", request.headers["Content-Type"])
        if data["metadata"].get("uid", raw["metadata"].get("uid")) != raw["metadata"].get("uid"):
            raise Refused(409, "Conflict", "the uid in the precondition differs")
        given = data["metadata"].pop("resourceVersion", None)
        if given is not None and given != raw["metadata"]["resourceVersion"]:
            raise Refused(409, "Conflict", "the object has been modified")
        if request.subresource == "status":
            assert set(data) == {"metadata", "status"}, "only the status is written there"
            assert not data["metadata"], "and nothing else"
        else:
            assert "status" not in data, "it would be ignored there"
        return self.edit(self.guards.planner, _text(request.resource), request.namespace, request.name, **data)

    def _bind(self, request: kmock.Request, raw: Any, body: Any) -> Any:
        require_published(body)
        if body["metadata"].get("uid") != raw["metadata"]["uid"] or raw["spec"].get("nodeName"):
            raise Refused(409, "Conflict", "already assigned to a node")
        if raw["metadata"].get("deletionTimestamp"):
            raise Refused(409, "Conflict", "the pod is being deleted")
        self.guards.admit(self.guards.planner, "CREATE", "pods/binding", None, body)
        about = {"annotations": body["metadata"].get("annotations") or {}}
        self.change(PODS, request.namespace, request.name, metadata=about, spec={"nodeName": body["target"]["name"]})
        return {"kind": "Status", "status": "Success", "code": 201}

    def _known(self, *key: Any) -> Any:
        if key not in self.objects or self.objects[key].deleted:
            raise Refused(404, "NotFound", "not found")
        return self.objects[key]

    def _matches(self, request: kmock.Request, raw: dict[str, Any]) -> bool:
        """Whether a list or watch shows an object: selectors are of a label that is there, or has a value."""
        if request.namespace is not None and raw["metadata"].get("namespace") != request.namespace:
            return False
        label, _, text = request.params.get("labelSelector", "").partition("=")
        has = raw["metadata"].get("labels") or {}
        return not label or (label in has and text in ("", has[label]))

    async def _serve_list(self, request: kmock.Request) -> Any:
        items = sorted(
            (
                obj.last.raw
                for (resource, _, _), obj in self.objects.items()
                if resource == request.resource and not obj.deleted and self._matches(request, obj.last.raw)
            ),
            key=lambda raw: json.dumps(raw["metadata"]["name"]),
        )
        version, first = map(int, request.params.get("continue", f"{self.version} 0").split())
        if version < self.oldest:
            raise kmock.KubernetesError(410, "Expired", "The provided continue parameter is too old")
        more = {"continue": f"{version} {first + PAGE}"} if len(items) > first + PAGE else {}
        return {"metadata": {"resourceVersion": str(version)} | more, "items": items[first : first + PAGE]}

    async def _serve_watch(self, request: kmock.Request) -> AsyncIterator[Any]:
        yield b""
        after = int(request.params["resourceVersion"])
        if after < self.oldest:
            yield {"type": "ERROR", "object": {"kind": "Status", "code": 410, "message": "too old"}}
            return
        for change in list(self.events):
            event = self._seen(request, change) if change.version > after else None
            if event is not None:
                yield event
                if self.broken:
                    how, self.broken = self.broken, ""
                    if how == "error":
                        raise RuntimeError("the server has a trouble of its own")
                    await asyncio.sleep(0.01)
                    request._raw_request.transport.abort()
                    return
        kind = {"kind": KINDS[str(request.resource.plural)], "apiVersion": "v1"}
        yield {"type": "BOOKMARK", "object": kind | {"metadata": {"resourceVersion": str(self.version)}}}

    def _seen(self, request: kmock.Request, change: Change) -> dict[str, Any] | None:
        """A write as a watch tells it: what enters a selection is added, what leaves it is deleted."""
        if change.resource != request.resource:
            return None
        was = change.before is not None and self._matches(request, change.before)
        if change.after is not None and self._matches(request, change.after):
            return {"type": "MODIFIED" if was else "ADDED", "object": change.after}
        return {"type": "DELETED", "object": merge(change.before, self._at(change.version))} if was else None

    @staticmethod
    def _at(version: int) -> dict[str, Any]:
        return {"metadata": {"resourceVersion": str(version)}}

    # What tests and other controllers do, while no request is served.

    def put(self, resource: str, item: dict[str, Any]) -> None:
        """Create an object, or replace all of it."""
        about = item["metadata"]
        item.setdefault("apiVersion", resource.rpartition("/")[0])
        item.setdefault("kind", KINDS[resource.rpartition("/")[2]])
        require_published(item)
        known = self.get(resource, about.get("namespace"), about["name"])
        self.version += 1
        about["resourceVersion"] = str(self.version)
        key = resource, about.get("namespace"), about["name"]
        if key in self.objects:
            self.objects[key].create(item)
        else:
            self.objects[key] = item
        self._note(resource, known, item)

    def _note(self, resource: str, before: Any, after: Any) -> None:
        self.events.append(Change(self.version, kmock.resource(resource), before, copy.deepcopy(after)))

    def change(self, resource: str, namespace: str | None, name: str, **parts: Any) -> dict[str, Any]:
        """Merge into an object."""
        before = self.get(resource, namespace, name)
        merged = merge(before, parts)
        require_published(merged)
        self.version += 1
        merged["metadata"]["resourceVersion"] = str(self.version)
        self.objects[resource, namespace, name].create(merged)
        self._note(resource, before, merged)
        return copy.deepcopy(merged)

    def edit(self, user: str, resource: str, namespace: str | None, name: str, **parts: Any) -> dict[str, Any]:
        """Merge into an object what somebody asks for; Refused by the policy, or for what nobody changes."""
        before = self._known(kmock.resource(resource), namespace, name).last.raw
        after = merge(before, parts)
        for key in ("uid", "name", "namespace", "creationTimestamp"):
            if before["metadata"].get(key) != after["metadata"].get(key):
                raise Refused(422, "Invalid", f"metadata.{key}: field is immutable")
        if resource == PODS:
            if before["spec"] != after["spec"]:
                raise Refused(422, "Invalid", "spec: pod updates may not change it")
            self.guards.admit(user, "UPDATE", "pods", before, after)
        return self.change(resource, namespace, name, **parts)

    def remove(self, user: str, plural: str, namespace: str | None, name: str, grace_s: int | None = None) -> None:
        """Delete an object: a pod on a node goes when its kubelet has stopped it, or at once without grace."""
        assert plural == "pods"
        raw = self._known(kmock.resource(PODS), namespace, name).last.raw
        options = {} if grace_s is None else {"gracePeriodSeconds": grace_s}
        self.guards.admit(user, "DELETE", plural, raw, None, options=options)
        if raw["spec"].get("nodeName") and grace_s != 0:
            self.change(PODS, namespace, name, metadata={"deletionTimestamp": TERMINATING})
        else:
            self.drop(PODS, namespace, name)

    def drop(self, resource: str, namespace: str | None, name: str) -> None:
        before = self.get(resource, namespace, name)
        self.version += 1
        self.objects[resource, namespace, name].delete()
        self._note(resource, before, None)

    def get(self, resource: str, namespace: str | None, name: str) -> dict[str, Any] | None:  # type: ignore[override]
        key = kmock.resource(resource), namespace, name
        if key not in self.objects or self.objects[key].deleted:
            return None
        return copy.deepcopy(dict(self.objects[key].last.raw))

    def all(self, resource: str) -> list[dict[str, Any]]:
        of = kmock.resource(resource)
        found = [obj for (other, _, _), obj in self.objects.items() if other == of and not obj.deleted]
        return [copy.deepcopy(dict(obj.last.raw)) for obj in found]

    def forget(self) -> None:
        """Watches from before now get 410."""
        self.oldest = self.version


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


def _text(resource: Any) -> str:
    return f"{resource.group}/{resource.version}/{resource.plural}" if resource.group else f"v1/{resource.plural}"


def guards_of(**config: Any) -> Guards:
    """Of the manifests for a configuration."""
    return Guards(_manifests(json.dumps(config, sort_keys=True)))


@cache
def _manifests(config: str) -> str:
    found = Kubernetes.model_validate({"nodes": "n[0-3]"} | json.loads(config))
    return manifests(found, {}, Deployment("photonplan", "image"))


class Server:
    """The emulator on a port of loopback, in a thread of its own."""

    def __init__(self) -> None:
        self.emulator = Emulator(guards=guards_of())
        self.url = ""
        self._ready, self._over = Event(), Event()
        self._thread = Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self._thread.start()
        assert self._ready.wait(10)

    async def _serve(self) -> None:
        async with self.emulator, kmock.Server(self.emulator) as server:
            for name in (WORKLOADS, CHECKS, PODS, NODES):
                self.emulator.resources[name] = {}  # type: ignore[typeddict-item]
            self.url = f"http://{server.host}:{server.port}"
            self._ready.set()
            while not self._over.is_set():
                await asyncio.sleep(0.02)

    def api(self) -> KubernetesClient:
        return KubernetesClient(ClientConfig(self.url, token=lambda: self.emulator.token or None))

    def close(self) -> None:
        self._over.set()
        self._thread.join()

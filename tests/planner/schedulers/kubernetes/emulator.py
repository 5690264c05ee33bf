"""An emulated Kubernetes API: kmock, with versions, conflicts, watches from a version, pages, bindings and outages."""

import asyncio
import copy
import json
import re
from collections.abc import AsyncIterator, Callable
from threading import Event, Thread
from typing import Any

import attrs
import kmock

from planner.schedulers.kubernetes.access import Access
from planner.schedulers.kubernetes.api import Api

WORKLOADS = "kueue.x-k8s.io/v1beta1/workloads"
CHECKS = "kueue.x-k8s.io/v1beta1/admissionchecks"
PODS, NODES = "v1/pods", "v1/nodes"
PAGE = 7
"""the most that a list gives at once"""


@attrs.define(kw_only=True)
class Emulator(kmock.KubernetesEmulator):
    """What kmock leaves out of the contract that the planner rests on."""

    version: int = 0
    events: list[tuple[int, kmock.resource, dict[str, Any]]] = attrs.field(factory=list)
    oldest: int = 0
    """versions before it are forgotten: 410"""
    is_down: bool = False
    before_write: list[Callable[[], None]] = attrs.field(factory=list)
    """what others do just before the next writes"""
    broken: str = ""
    """how the next watch ends after its first event: "cut" from the client, or with an "error" in the stream"""
    token: str = ""
    asked: list[tuple[str, str, Any]] = attrs.field(factory=list)
    """writes as (method, path, body)"""

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        self["post", re.compile(r"/api/v1/namespaces/[^/]+/pods/[^/]+/binding")] << self._serve_binding

    async def _handle(self, request: kmock.Request) -> Any:
        if self.is_down:
            raise kmock.KubernetesError(503, "ServiceUnavailable", "the server is down")
        if self.token and request.headers.get("Authorization") != f"Bearer {self.token}":
            raise kmock.KubernetesError(401, "Unauthorized", "no such token")
        if request.method.value in ("PATCH", "POST", "DELETE"):
            self.asked.append((request.method.value, request.url.path, copy.deepcopy(request.data)))
            if self.before_write:
                self.before_write.pop(0)()
        if request.action == kmock.action.UPDATE:
            self._check_patch(request)
            return await self._then("MODIFIED", request)
        if request.action == kmock.action.DELETE:
            self._check_delete(request)
            return await self._then("DELETED", request)
        return await super()._handle(request)

    def _object(self, request: kmock.Request) -> Any:
        return self._known(request.resource, request.namespace, request.name)

    def _known(self, *key: Any) -> Any:
        if key not in self.objects or self.objects[key].deleted:
            raise kmock.KubernetesObjectNotFoundError()
        return self.objects[key]

    def _check_patch(self, request: kmock.Request) -> None:
        assert request.headers["Content-Type"] == "application/merge-patch+json"
        raw, data = self._object(request).last.raw, request.data
        given = data["metadata"].pop("resourceVersion", None)
        if given is not None and given != raw["metadata"]["resourceVersion"]:
            raise kmock.KubernetesError(409, "Conflict", "the object has been modified")
        if request.subresource == "status":
            assert set(data) == {"metadata", "status"}, "only the status is written there"
            assert not data["metadata"], "and nothing else"
        else:
            assert "status" not in data, "it would be ignored there"
        self.version += 1
        data["metadata"]["resourceVersion"] = str(self.version)

    def _check_delete(self, request: kmock.Request) -> None:
        raw = self._object(request).last.raw
        if request.data and request.data["preconditions"]["uid"] != raw["metadata"].get("uid"):
            raise kmock.KubernetesError(409, "Conflict", "the uid differs")
        self.version += 1

    async def _then(self, kind: str, request: kmock.Request) -> Any:
        key = request.resource, request.namespace, request.name
        raw = copy.deepcopy(self.objects[key].last.raw)
        response = await super()._handle(request)
        if kind == "MODIFIED":
            raw = copy.deepcopy(self.objects[key].last.raw)
        raw["metadata"]["resourceVersion"] = str(self.version)
        self.events.append((self.version, request.resource, {"type": kind, "object": raw}))
        return response

    def _matches(self, request: kmock.Request, raw: dict[str, Any]) -> bool:
        label = request.params.get("labelSelector")
        if request.namespace is not None and raw["metadata"].get("namespace") != request.namespace:
            return False
        return not label or label in (raw["metadata"].get("labels") or {})

    async def _serve_list(self, request: kmock.Request) -> Any:
        items = sorted(
            (
                obj.last.raw
                for (resource, _, _), obj in self.objects.items()
                if resource == request.resource and not obj.deleted and self._matches(request, obj.last.raw)
            ),
            key=lambda raw: json.dumps(raw["metadata"]["name"]),
        )
        first = int(request.params.get("continue", 0))
        more = {"continue": str(first + PAGE)} if len(items) > first + PAGE else {}
        return {"metadata": {"resourceVersion": str(self.version)} | more, "items": items[first : first + PAGE]}

    async def _serve_watch(self, request: kmock.Request) -> AsyncIterator[Any]:
        yield b""
        after = int(request.params["resourceVersion"])
        if after < self.oldest:
            yield {"type": "ERROR", "object": {"kind": "Status", "code": 410, "message": "too old"}}
            return
        for version, resource, event in list(self.events):
            if version > after and resource == request.resource and self._matches(request, event["object"]):
                yield event
                if self.broken:
                    how, self.broken = self.broken, ""
                    if how == "error":
                        raise RuntimeError("the server has a trouble of its own")
                    await asyncio.sleep(0.01)
                    request._raw_request.transport.abort()
                    return
        yield {"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": str(self.version)}}}

    async def _serve_binding(self, request: kmock.Request) -> Any:
        raw, body = self._known(kmock.resource(PODS), request.namespace, request.name).last.raw, request.data
        if body["metadata"].get("uid") != raw["metadata"]["uid"] or raw["spec"].get("nodeName"):
            raise kmock.KubernetesError(409, "Conflict", "already assigned to a node")
        about = {"annotations": body["metadata"].get("annotations") or {}}
        self.change(PODS, request.namespace, request.name, metadata=about, spec={"nodeName": body["target"]["name"]})
        return {"kind": "Status", "status": "Success", "code": 201}

    # What tests and other controllers do, while no request is served.

    def put(self, resource: str, item: dict[str, Any]) -> None:
        """Create an object, or replace all of it."""
        self.version += 1
        item["metadata"]["resourceVersion"] = str(self.version)
        about = item["metadata"]
        key = resource, about.get("namespace"), about["name"]
        known = key in self.objects and not self.objects[key].deleted
        if key in self.objects:
            self.objects[key].create(item)
        else:
            self.objects[key] = item
        event = {"type": "MODIFIED" if known else "ADDED", "object": copy.deepcopy(item)}
        self.events.append((self.version, kmock.resource(resource), event))

    def change(self, resource: str, namespace: str | None, name: str, **parts: Any) -> None:
        """Merge into an object."""
        self.version += 1
        found = self.objects[resource, namespace, name]
        found.patch(parts)
        found.patch({"metadata": {"resourceVersion": str(self.version)}})
        raw = copy.deepcopy(found.last.raw)
        self.events.append((self.version, kmock.resource(resource), {"type": "MODIFIED", "object": raw}))

    def drop(self, resource: str, namespace: str | None, name: str) -> None:
        self.version += 1
        found = self.objects[resource, namespace, name]
        raw = copy.deepcopy(found.last.raw)
        raw["metadata"]["resourceVersion"] = str(self.version)
        found.delete()
        self.events.append((self.version, kmock.resource(resource), {"type": "DELETED", "object": raw}))

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
        self.events.clear()


class Server:
    """The emulator on a port of loopback, in a thread of its own."""

    def __init__(self) -> None:
        self.emulator = Emulator()
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

    def api(self) -> Api:
        return Api(Access(self.url, token=lambda: self.emulator.token or None))

    def close(self) -> None:
        self._over.set()
        self._thread.join()

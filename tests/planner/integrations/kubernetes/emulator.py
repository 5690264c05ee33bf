"""An emulated Kubernetes API: kmock, with versions, conflicts, watches from a version, pages, bindings and outages.

It takes what an API server takes: objects of the published form only, from who has a right to write them, if the
admission policy of the installed manifests lets them. All that comes over HTTP comes from the planner.
"""

import asyncio
import copy
import json
import time
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
from tests.planner.integrations.kubernetes.history import OPTION, Read
from tests.planner.integrations.kubernetes.kueue_webhook import require_kueue
from tests.planner.integrations.kubernetes.objects import CHECKS, KINDS, NODES, PODS, SLICES, WORKLOADS, Objects, merge
from tests.planner.integrations.kubernetes.published import Refused, require_published
from tests.planner.integrations.kubernetes.watch_stream import event_line, until_left

PAGE = 7
"""the most that a list gives at once"""
VERBS = {"PATCH": "patch", "POST": "create", "DELETE": "delete", "PUT": "update"}
KUBELET = "system:node:n"


@attrs.define(kw_only=True)
class Emulator(Objects):
    """What kmock leaves out of the contract that the planner rests on."""

    is_down: bool = False
    num_busy: int = 0
    """of the next requests, that are answered 429"""
    before_write: list[Callable[[], None]] = attrs.field(factory=list)
    """what others do just before the next writes"""
    broken: str = ""
    """how the next watch ends after its first event: "cut" from the client, or with an "error" in the stream"""
    is_gone_by_status: bool = False
    """whether a watch of a forgotten version is answered 410 by HTTP, not by an event: servers do either"""
    token: str = ""
    asked: list[tuple[str, str, Any]] = attrs.field(factory=list)
    """writes as (method, path, body)"""

    async def _handle(self, request: kmock.Request) -> Any:
        """Answer, and forget the request: kmock looks through all that it remembers to answer the next one."""
        try:
            return await self._answer(request)
        finally:
            self._requests = [each for each in self._requests if each is not request]

    async def _answer(self, request: kmock.Request) -> Any:
        if self.is_down:
            raise kmock.KubernetesError(503, "ServiceUnavailable", "the server is down")
        if self.token and request.headers.get("Authorization") != f"Bearer {self.token}":
            raise kmock.KubernetesError(401, "Unauthorized", "no such token")
        if self.num_busy:
            self.num_busy -= 1
            return _busy()
        try:
            self._authorize(request)
            if request.method.value in VERBS:
                self.asked.append((request.method.value, request.url.path, copy.deepcopy(request.data)))
                if self.before_write:
                    self.before_write.pop(0)()
                return web.json_response(self._write(request), status=201 if request.method.value == "POST" else 200)
            if not request.name and "watch" not in request.params:
                return web.json_response(self.history.page(self._read(request), PAGE))
        except Refused as refused:
            raise kmock.KubernetesError(refused.status, refused.reason, refused.said) from None
        return await super()._handle(request)

    def _authorize(self, request: kmock.Request) -> None:
        resource = request.resource
        if resource is None:
            raise Refused(404, "NotFound", "the server could not find the requested resource")
        plural = f"{resource.plural}/{request.subresource}" if request.subresource else str(resource.plural)
        reads = "watch" if "watch" in request.params else "get" if request.name else "list"
        self.guards.authorize((str(resource.group or ""), plural, VERBS.get(request.method.value, reads)))
        if str(resource.plural) not in KINDS or resource not in self._get_resources():
            raise Refused(404, "NotFound", "the server could not find the requested resource")

    def _read(self, request: kmock.Request) -> Read:
        kind = KINDS[str(request.resource.plural)]
        return Read(request.resource, kind, request.namespace, dict(request.params))

    def _write(self, request: kmock.Request) -> Any:
        """Do what the planner asks, as its account."""
        plural, data = str(request.resource.plural), request.data
        if request.method.value == "POST" and not request.subresource:
            return self.create(_text(request.resource), request.namespace, data)
        raw = self._known(request.resource, request.namespace, request.name).last.raw
        if request.subresource == "binding":
            return self._bind(request, raw, data)
        if request.method.value == "DELETE":
            self._require_preconditions(raw, (data or {}).get("preconditions") or {})
            self.remove(self.guards.planner, plural, request.namespace, request.name)
            return {"kind": "Status", "status": "Success"}
        if request.headers["Content-Type"] != "application/merge-patch+json":
            raise Refused(415, "UnsupportedMediaType", request.headers["Content-Type"])
        self._require_preconditions(raw, data["metadata"])
        for key in ("resourceVersion", "uid"):
            data["metadata"].pop(key, None)
        if request.subresource == "status":
            assert set(data) == {"metadata", "status"}, "only the status is written there"
            assert not data["metadata"], "and nothing else"
            if plural == "workloads":
                require_kueue(raw, merge(raw, data))
        else:
            assert "status" not in data, "it would be ignored there"
        return self.edit(self.guards.planner, _text(request.resource), request.namespace, request.name, **data)

    @staticmethod
    def _require_preconditions(raw: Any, given: Any) -> None:
        for key in ("uid", "resourceVersion"):
            if given.get(key) not in (None, raw["metadata"].get(key)):
                raise Refused(409, "Conflict", f"the object has been modified: {key} differs")

    def _bind(self, request: kmock.Request, raw: Any, body: Any) -> Any:
        require_published(body)
        if body["metadata"].get("uid") != raw["metadata"]["uid"] or raw["spec"].get("nodeName"):
            raise Refused(409, "Conflict", "already assigned to a node")
        if raw["metadata"].get("deletionTimestamp") or raw["spec"].get("schedulingGates"):
            raise Refused(409, "Conflict", "the pod is being deleted, or has scheduling gates")
        if body["target"]["kind"] != "Node" or body["metadata"]["name"] != request.name:
            raise Refused(422, "Invalid", "target.kind must be Node, and the name that of the pod")
        self.guards.admit(self.guards.planner, "CREATE", "pods/binding", None, body)
        about = {"annotations": body["metadata"].get("annotations") or {}}
        self.change(PODS, request.namespace, request.name, metadata=about, spec={"nodeName": body["target"]["name"]})
        return {"kind": "Status", "status": "Success", "code": 201}

    async def _serve_watch(self, request: kmock.Request) -> AsyncIterator[Any]:
        events = self._watched(request)
        yield b""
        for event in events:
            yield event_line(event)
            if self.broken and event["type"] != "BOOKMARK":
                how, self.broken = self.broken, ""
                if how == "error":
                    raise RuntimeError("the server has a trouble of its own")
                await asyncio.sleep(0.01)
                request._raw_request.transport.abort()
                return
        if OPTION in request.params:
            await until_left(request)

    def _watched(self, request: kmock.Request) -> list[Any]:
        """Events of a watch; what is refused before it begins is an answer of its own."""
        try:
            events = list(self.history.events(self._read(request)))
        except Refused as refused:
            raise kmock.KubernetesError(refused.status, refused.reason, refused.said) from None
        status = events[0]["object"] if events and events[0]["type"] == "ERROR" else None
        if status is not None and self.is_gone_by_status:
            raise kmock.KubernetesError(status["code"], status["reason"], status["message"])
        return events


def _text(resource: Any) -> str:
    return f"{resource.group}/{resource.version}/{resource.plural}" if resource.group else f"v1/{resource.plural}"


def _busy() -> web.Response:
    """What API priority and fairness answers: too many requests, and when to come again."""
    about = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "code": 429}
    said = {"reason": "TooManyRequests", "message": "too many requests, please try again later"}
    return web.json_response(about | said, status=429, headers={"Retry-After": "1"})


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
            for name in (WORKLOADS, CHECKS, PODS, NODES, SLICES):
                self.emulator.resources[name] = {}  # type: ignore[typeddict-item]
            self.url = f"http://{server.host}:{server.port}"
            self._ready.set()
            while not self._over.is_set():
                await asyncio.sleep(0.02)

    def api(self, clock: Callable[[], float] = time.monotonic) -> KubernetesClient:
        return KubernetesClient(ClientConfig(self.url, False, lambda: self.emulator.token or None), clock)

    def close(self) -> None:
        self._over.set()
        self._thread.join()

"""Routes of the scheduler's extender: kube-scheduler asks pod by pod which nodes may be, and has pods bound."""

import asyncio
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter
from fastapi import Request as Asked
from pydantic import ConfigDict, Field

from costmodel.spec import Spec
from planner.model import files
from planner.service.context import BODY, FAULTS, ServiceContext
from planner.service.middleware import extend
from planner.service.openapi import body_of
from planner.service.responses import Json
from planner.service.service import Service

if TYPE_CHECKING:
    from planner.integrations.kubernetes.extender import Extender, PodVerdict


class Loose(Spec):
    """A part of an object of Kubernetes: what is used of it, the rest is left aside."""

    model_config = ConfigDict(extra="ignore")


class Metadata(Loose):
    name: str = Field(max_length=253)
    namespace: str | None = Field(default=None, max_length=63)
    uid: str | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None


class Resources(Loose):
    limits: dict[str, str | int] | None = None
    requests: dict[str, str | int] | None = None


class Container(Loose):
    resources: Resources | None = None
    restart_policy: str | None = Field(default=None, alias="restartPolicy")


class PodSpec(Loose):
    node_name: str | None = Field(default=None, alias="nodeName")
    containers: tuple[Container, ...] | None = None
    init_containers: tuple[Container, ...] | None = Field(default=None, alias="initContainers")
    priority: int | None = None
    deadline: int | None = Field(default=None, alias="activeDeadlineSeconds", gt=0)


class PodBody(Loose):
    metadata: Metadata
    spec: PodSpec = PodSpec()


class NodeMetadata(Spec):
    model_config = ConfigDict(extra="allow")
    name: str


class NodeBody(Spec):
    """Sent back as it came."""

    model_config = ConfigDict(extra="allow")
    metadata: NodeMetadata


class NodeList(Loose):
    items: tuple[NodeBody, ...] | None = None


class ExtenderArgs(Loose):
    """A pod and the nodes that the scheduler has left for it, by name or as objects."""

    pod: PodBody = Field(alias="Pod")
    nodes: NodeList | None = Field(default=None, alias="Nodes")
    node_names: tuple[str, ...] | None = Field(default=None, alias="NodeNames")

    @property
    def objects(self) -> list[dict[str, Any]] | None:
        """Nodes as they came; None where they are given by name."""
        if self.node_names is not None or self.nodes is None:
            return None
        return [node.model_dump(mode="json") for node in self.nodes.items or ()]

    @property
    def names(self) -> list[str]:
        """Each node once."""
        if self.node_names is not None:
            return list(dict.fromkeys(self.node_names))
        return [] if self.nodes is None else [node.metadata.name for node in self.nodes.items or ()]


class ExtenderBindingArgs(Loose):
    """A pod that goes to a node."""

    pod_name: str = Field(alias="PodName", min_length=1, max_length=253)
    pod_namespace: str = Field(alias="PodNamespace", min_length=1, max_length=63)
    pod_uid: str = Field(default="", alias="PodUID")
    node: str = Field(alias="Node", min_length=1, max_length=253)


class ExtenderFilterResult(Loose):
    """Nodes that may be, and why the others may not."""

    nodes: NodeList | None = Field(default=None, alias="Nodes")
    node_names: tuple[str, ...] | None = Field(default=None, alias="NodeNames")
    failed: dict[str, str] = Field(default_factory=dict, alias="FailedNodes")
    unresolvable: dict[str, str] = Field(default_factory=dict, alias="FailedAndUnresolvableNodes")
    error: str = Field(default="", alias="Error")


class HostPriority(Loose):
    """Score of a node, 0 to 10, as kube-scheduler reads it."""

    host: str = Field(alias="Host")
    score: int = Field(alias="Score")


class ExtenderBindingResult(Loose):
    """Nothing, or why the pod was not bound."""

    error: str = Field(default="", alias="Error")


FIRST_LOOK_S, MOST_LOOK_S = 0.02, 0.1
"""between two looks at whether circuits are on: the first time, and after doubling"""
AGAIN_S = 2.0
"""after it the job is looked at again: it may have moved"""
BODIES = (ExtenderArgs, ExtenderBindingArgs)
RESPONSES: dict[int | str, dict[str, Any]] = FAULTS | BODY


def add(routes: APIRouter, site: ServiceContext) -> None:
    """Add all of them, where a control loop has an extender."""
    service, extender = site.service, site.extender
    if extender is None:
        return
    from planner.integrations.kubernetes.extender_replies import filter_result, priorities

    @routes.post("/scheduler/filter", response_model=ExtenderFilterResult, responses=RESPONSES,
                 openapi_extra=body_of(ExtenderArgs))  # fmt: skip
    async def filter_nodes(asked: Asked) -> Json:
        """The one node that the pod's gang was planned on, when all of the gang has a place."""
        args = files.validate(ExtenderArgs, asked.scope.get("json"), "body")
        verdict = await _judged(service, extender, _item(args.pod))
        return Json(filter_result(verdict, args.names, args.objects))

    @routes.post("/scheduler/prioritize", response_model=list[HostPriority], responses=RESPONSES,
                 openapi_extra=body_of(ExtenderArgs))  # fmt: skip
    async def prioritize(asked: Asked) -> Json:
        """10 for that node, 0 for others."""
        args = files.validate(ExtenderArgs, asked.scope.get("json"), "body")
        return Json(priorities(await _judged(service, extender, _item(args.pod)), args.names))

    @routes.post("/scheduler/bind", response_model=ExtenderBindingResult, responses=RESPONSES,
                 openapi_extra=body_of(ExtenderBindingArgs))  # fmt: skip
    async def bind(asked: Asked) -> Json:
        """Bind a pod to that node, with its accelerators in annotations; once, however often it is asked. Circuits
        that are being connected are waited for."""
        args = files.validate(ExtenderBindingArgs, asked.scope.get("json"), "body")
        extend(asked.scope, extender.light_s)
        return Json({"Error": await _bound(service, extender, args)})


def _item(pod: PodBody) -> dict[str, Any]:
    return pod.model_dump(mode="json", exclude_none=True)


async def _judged(service: Service, extender: "Extender", item: dict[str, Any]) -> "PodVerdict":
    """Verdict on a pod, once the decision behind it is on disk."""
    read = await asyncio.to_thread(extender.read, item)
    return await service.ask(lambda _: extender.judge(read))


async def _lit(service: Service, extender: "Extender", verdict: "PodVerdict", until_s: float) -> bool:
    """Wait until circuits are on, or for a time after which others may be wanted; False when the time is over."""
    now_s = asyncio.get_running_loop().time
    again_s, pause_s = min(until_s, now_s() + AGAIN_S), FIRST_LOOK_S
    while not extender.is_lit(verdict) and now_s() < again_s and not service.is_stopping:
        await asyncio.sleep(pause_s)
        pause_s = min(2 * pause_s, MOST_LOOK_S)
    return now_s() < until_s and not service.is_stopping


async def _bound(service: Service, extender: "Extender", args: ExtenderBindingArgs) -> str:
    from planner.integrations.kubernetes.client import ApiError
    from planner.integrations.kubernetes.pods import Pod

    try:
        item = await asyncio.to_thread(extender.fetch, args.pod_namespace, args.pod_name, args.pod_uid)
    except ApiError as error:
        return str(error)
    verdict = await _judged(service, extender, item)
    until_s = asyncio.get_running_loop().time() + extender.light_s
    while verdict.dark and await _lit(service, extender, verdict, until_s):
        verdict = await _judged(service, extender, item)
    return await asyncio.to_thread(extender.bind, Pod(item), args.node, verdict)

"""The context of all routes: the service, its metrics, and one way to make an event of a request."""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fastapi import Request as Asked

from planner.controller import Controller, Decision
from planner.integrations.slices.hosts import SliceNames
from planner.model.errors import InputError
from planner.service.job_class_warmup import JobClassWarmup
from planner.service.metrics import Metrics
from planner.service.responses import Json
from planner.service.schemas import Answer, Fault
from planner.service.service import Service

if TYPE_CHECKING:
    from planner.integrations.kubernetes.extender import Extender

FAULTS: dict[int | str, dict[str, Any]] = {
    401: {"model": Fault, "description": "No token, or a wrong one"},
    403: {"model": Fault, "description": "Not for the tenant whose token it is"},
    422: {"model": Fault, "description": "Something in the request cannot be"},
    429: {"model": Fault, "description": "Come again later, after the seconds of Retry-After"},
    503: {"model": Fault, "description": "The service is being stopped, or cannot write its journal"},
    504: {"model": Fault, "description": "It took too long"},
}
"""of every route that asks the controller"""
UNKNOWN: dict[int | str, dict[str, Any]] = {404: {"model": Fault, "description": "There is nothing of this name"}}
CONFLICT: dict[int | str, dict[str, Any]] = {
    409: {"model": Fault, "description": "At odds with what was accepted before"}
}
BODY: dict[int | str, dict[str, Any]] = {
    413: {"model": Fault, "description": "The body is too large"},
    415: {"model": Fault, "description": "The body is no JSON"},
}
EVENT: dict[str, Any] = {"response_model": Answer, "responses": FAULTS | CONFLICT | BODY}
_KEY = re.compile("[!-~]{1,200}")


def key_of(asked: Asked) -> str | None:
    """The idempotency key of a request; InputError for one that cannot be."""
    key = asked.headers.get("idempotency-key")
    if key is not None and not _KEY.fullmatch(key):
        raise InputError("header", "Idempotency-Key", "must be 1 to 200 printable ASCII characters without spaces")
    return key


@dataclass
class ServiceContext:
    """One service and its figures."""

    service: Service
    metrics: Metrics = field(default_factory=Metrics)

    def __post_init__(self) -> None:
        self.preparation = JobClassWarmup(self.service.controller)

    @property
    def extender(self) -> "Extender | None":
        """The extender that answers kube-scheduler; None without a control loop for Kubernetes."""
        return next((c.extender for c in self.service.control_loops if hasattr(c, "extender")), None)

    def slice_names(self) -> SliceNames:
        """What Slices are made of, by the control loop for Kubernetes; nothing is known without one."""
        known = (c.slice_names() for c in self.service.control_loops if hasattr(c, "slice_names"))
        return next(known, SliceNames())

    async def event(
        self, name: str, call: Callable[[Controller], tuple[Decision, ...]], only: frozenset[str] | None = None
    ) -> Json:
        """Answer an event when it is on disk, with what was decided of these jobs; None: of all."""
        self.service.require_writable()
        began_s = time.perf_counter()
        seq, decisions = await self.service.ask(lambda controller: (call(controller), controller.seq)[::-1])
        self.metrics.event(name, time.perf_counter() - began_s, decisions)
        kept = (each for each in decisions if only is None or each.job in only)
        return Json({"seq": seq, "decisions": [each.named_body() for each in kept]})

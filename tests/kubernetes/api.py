"""Objects of a real API, written and read as its administrator, also while it restarts."""

import json
import time
from dataclasses import dataclass
from typing import Any

import httpx

from tests.planner.integrations.kubernetes.items import GPU

Object = dict[str, Any]
KUEUE = "/apis/kueue.x-k8s.io/v1beta1"
PODS, WORKLOADS, CHECKS = (
    "/api/v1/namespaces/team/pods",
    f"{KUEUE}/namespaces/team/workloads",
    f"{KUEUE}/admissionchecks",
)
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
TIMES = 120
"""that a request is made again, half a second later, while the API is away or busy"""
AWAY = (429, 500, 503, 504)


@dataclass
class Api:
    """Any refusal is an error, but for those of `allowed`."""

    client: httpx.Client

    def ask(self, method: str, path: str, body: Object | None = None, allowed: tuple[int, ...] = ()) -> Object:
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        content = None if body is None else json.dumps(body)
        for _ in range(TIMES):
            try:
                response = self.client.request(method, path, content=content, headers={"Content-Type": kind})
            except httpx.HTTPError:
                time.sleep(0.5)
                continue
            if response.status_code not in AWAY:
                break
            time.sleep(0.5)
        if not response.is_success and response.status_code not in allowed:
            raise RuntimeError(f"{method} {path}: {response.status_code} {response.text[:400]}")
        answer: Object = response.json()
        return answer

    def items(self, path: str) -> list[Object]:
        found: list[Object] = self.ask("GET", path)["items"]
        return found

    def remove(self, path: str, name: str) -> None:
        """At once, as a kubelet does when a pod has stopped; one that is not there: nothing."""
        self.ask(
            "DELETE", f"{path}/{name}", {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0}, (404,)
        )

    def set_status(self, path: str, name: str, status: Object) -> None:
        """One that is not there any more: nothing."""
        self.ask("PATCH", f"{path}/{name}/status", {"status": status}, (404,))


def definition(kind: str, scope: str) -> Object:
    """A resource of Kueue, whose fields the emulated API of the tests holds to the published form."""
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    plural = f"{kind.lower()}s"
    version = {
        "name": "v1beta1", "served": True, "storage": True, "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": anything, "status": anything}}},
    }  # fmt: skip
    return {
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {
            "name": f"{plural}.kueue.x-k8s.io", "annotations": {"api-approved.kubernetes.io": "unapproved, for a test"},
        },
        "spec": {
            "group": "kueue.x-k8s.io", "scope": scope, "versions": [version],
            "names": {"kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": kind.lower()},
        },
    }  # fmt: skip


def node_status(now: str) -> Object:
    """Of a node with eight accelerators that is ready."""
    room = {GPU: "8", "pods": "110", "cpu": "64", "memory": "512Gi"}
    ready = {
        "type": "Ready", "status": "True", "reason": "Test", "message": "", "lastHeartbeatTime": now,
        "lastTransitionTime": now,
    }  # fmt: skip
    return {"capacity": room, "allocatable": room, "conditions": [ready]}

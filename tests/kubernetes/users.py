"""What stands around the planner and no process here does: users, Kueue, kubelets, and a referee who reads the API."""

import random
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from tests.kubernetes.api import PODS, WORKLOADS, Api, Object
from tests.planner.integrations.kubernetes.items import GPU, pod_set, pod_spec

SHAPES = ((1, 1), (1, 4), (1, 8), (2, 8), (4, 8), (2, 4))
"""pods, and accelerators of each"""
ENDS = 0.08
"""share of the running pods that end between two looks"""
DEVICES = "photonplan.io/cuda-visible-devices"
OVER = ("Succeeded", "Failed")


def now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _holds(item: Object, kind: str) -> bool:
    conditions = item.get("status", {}).get("conditions", ())
    return any(one["type"] == kind and one["status"] == "True" for one in conditions)


def _gpus(pod: Object) -> int:
    return int(pod["spec"]["containers"][0]["resources"]["limits"][GPU])


@dataclass
class Users:
    """One step is a look of each at the API."""

    api: Api
    draw: random.Random
    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def submit(self) -> None:
        """A gang of pods, or a Workload of Kueue."""
        self.counts["jobs"] += 1
        (pods, each), name = self.draw.choice(SHAPES), f"j{self.counts['jobs']}"
        if self.draw.random() < 0.5:
            spec = {"queueName": "q", "podSets": [pod_set(pods, each)]}
            about = {"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "Workload", "metadata": {"name": name}}
            self.api.ask("POST", WORKLOADS, about | {"spec": spec})
            return
        marked = {
            "labels": {"photonplan.io/gang": name}, "annotations": {"photonplan.io/gang-size": str(pods)},
        }  # fmt: skip
        for index in range(pods):
            self.api.ask("POST", PODS, {"metadata": {"name": f"{name}-{index}"} | marked, "spec": pod_spec(each)})

    def step(self) -> None:
        pods = self.api.items(PODS)
        for workload in self.api.items(WORKLOADS):
            if not _holds(workload, "Finished"):
                self._kueue(workload, pods)
        for pod in self.api.items(PODS):
            self._kubelet(pod)
        self.judge()

    def open(self) -> list[str]:
        """Names of jobs and pods that have not ended."""
        pods = [pod["metadata"]["name"] for pod in self.api.items(PODS) if pod["status"].get("phase") not in OVER]
        return pods + [one["metadata"]["name"] for one in self.api.items(WORKLOADS) if not _holds(one, "Finished")]

    def _kueue(self, workload: Object, pods: list[Object]) -> None:
        uid, checks = workload["metadata"]["uid"], workload.get("status", {}).get("admissionChecks", ())
        own = [pod for pod in pods if any(by["uid"] == uid for by in pod["metadata"].get("ownerReferences", ()))]
        state = checks[0]["state"] if checks else ""
        pending = [{"name": "photonplan", "state": "Pending", "message": "", "lastTransitionTime": now()}]
        if not _holds(workload, "QuotaReserved"):
            self._set(workload, pending, QuotaReserved=True, Evicted=False)
        elif state in ("Retry", "Rejected"):
            for pod in own:
                self.api.remove(PODS, pod["metadata"]["name"])
            self._set(workload, pending, QuotaReserved=False, Evicted=True, Admitted=False)
        elif state == "Ready" and not _holds(workload, "Admitted"):
            self._set(workload, None, Admitted=True)
        elif state == "Ready":
            self._run(workload, own, {update["name"]: update for update in checks[0].get("podSetUpdates", ())})

    def _run(self, workload: Object, own: list[Object], updates: dict[str, Object]) -> None:
        """Make the pods of an admitted Workload; it ends with them."""
        (group,), name = workload["spec"]["podSets"], workload["metadata"]["name"]
        by = {
            "apiVersion": "kueue.x-k8s.io/v1beta1",
            "kind": "Workload",
            "name": name,
            "uid": workload["metadata"]["uid"],
        }
        update, known = updates.get(group["name"], {}), {pod["metadata"]["name"] for pod in own}
        selector = {"nodeSelector": update["nodeSelector"]} if "nodeSelector" in update else {}
        for pod in (f"{name}-{index}" for index in range(group["count"])):
            if pod not in known:
                about = {"name": pod, "ownerReferences": [by]}
                about |= {key: update.get(key, {}) for key in ("labels", "annotations")}
                self.api.ask("POST", PODS, {"metadata": about, "spec": group["template"]["spec"] | selector}, (409,))
        if len(own) == group["count"] and all(pod["status"].get("phase") == "Succeeded" for pod in own):
            self._set(workload, None, Finished=True)

    def _set(self, workload: Object, checks: list[Object] | None, **conditions: bool) -> None:
        """Nothing, where somebody else has written meanwhile."""
        about, found = workload["metadata"], dict[str, Any]()
        for one in workload.get("status", {}).get("conditions", ()):
            found[one["type"]] = one
        for kind, holds in conditions.items():
            told = {"reason": "Test", "message": "", "lastTransitionTime": now()}
            found[kind] = {"type": kind, "status": str(holds), **told}
        status: Object = {"conditions": list(found.values())} | ({} if checks is None else {"admissionChecks": checks})
        body = {"metadata": {"resourceVersion": about["resourceVersion"]}, "status": status}
        self.api.ask("PATCH", f"{WORKLOADS}/{about['name']}/status", body, (409,))

    def _kubelet(self, pod: Object) -> None:
        name, phase = pod["metadata"]["name"], pod["status"].get("phase")
        if pod["metadata"].get("deletionTimestamp"):
            self.api.remove(PODS, name)
        elif phase == "Pending" and pod["spec"].get("nodeName"):
            self.counts["started pods"] += 1
            self.api.set_status(PODS, name, {"phase": "Running"})
        elif phase == "Running" and self.draw.random() < ENDS:
            self.api.set_status(PODS, name, {"phase": "Succeeded"})

    def judge(self) -> None:
        """Pods on nodes have as many accelerators as they asked for, and none of another's."""
        holders = dict[tuple[str, str], str]()
        for pod in self.api.items(PODS):
            node, name = pod["spec"].get("nodeName"), pod["metadata"]["name"]
            if not node or pod["status"].get("phase") in OVER:
                continue
            devices = pod["metadata"].get("annotations", {}).get(DEVICES, "").split(",")
            if len(devices) != _gpus(pod) or "" in devices:
                self.wrong.append(f"{name} asked for {_gpus(pod)} accelerators and has {devices}")
            for device in devices:
                if (other := holders.setdefault((node, device), name)) != name:
                    self.wrong.append(f"{node} accelerator {device} is {other}'s and {name}'s")

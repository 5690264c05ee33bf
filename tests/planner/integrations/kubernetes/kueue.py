"""Kueue, and a Job controller, around Workloads of one size: quota for all, evictions, pods as the check says."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

from planner.integrations.kubernetes.pods import Pod
from tests.planner.integrations.kubernetes.emulator import Emulator
from tests.planner.integrations.kubernetes.items import CHECK, holds, merged, owner
from tests.planner.integrations.kubernetes.objects import PODS, WORKLOADS

ELASTIC_JOB = "kueue.x-k8s.io/elastic-job"
JOBS = "system:serviceaccount:kube-system:job-controller"


def live_pods(emulator: Emulator, maker: str | None = None) -> list[dict[str, Any]]:
    """Pods that have not ended, of one Workload, Job or gang."""
    return emulator.all(PODS, lambda raw: not Pod(raw).is_over and maker in (None, owner(raw)))


class Kueue:
    """It follows Workloads; `uids` numbers what it makes."""

    def __init__(self, emulator: Emulator, clock: Callable[[], float], uids: Iterator[int]) -> None:
        self._emulator, self._clock, self._uids = emulator, clock, uids
        self.not_before: dict[str, float] = {}
        """by Workload: when Kueue takes it back"""

    def look(self) -> None:
        """One look at all Workloads but those of elastic jobs."""
        for item in self._emulator.all(WORKLOADS, lambda raw: not holds(raw["status"], "Finished")):
            if ELASTIC_JOB not in item["metadata"].get("annotations", {}):
                self._look_at(item, item["status"], item["metadata"])

    def _look_at(self, item: dict[str, Any], status: dict[str, Any], about: dict[str, Any]) -> None:
        state = (status.get("admissionChecks") or [{"state": ""}])[0]
        if holds(status, "Evicted") and holds(status, "QuotaReserved"):
            pods = live_pods(self._emulator, f"{about['namespace']}/{about['name']}")
            for pod in pods:
                self._emulator.remove(JOBS, "pods", about["namespace"], pod["metadata"]["name"])
            if not pods:
                self.tell(item, QuotaReserved=False, Admitted=False)
        elif not holds(status, "QuotaReserved"):
            self.reserve(item)
        elif state["state"] in ("Retry", "Rejected"):
            self.evict(item, state)
        elif state["state"] == "Ready":
            if not holds(status, "Admitted"):
                self.tell(item, Admitted=True)
            self._make_pods(item, {update["name"]: update for update in state.get("podSetUpdates", ())})

    def reserve(self, item: dict[str, Any]) -> None:
        """Quota for a Workload that is active and not held back."""
        job = f"{item['metadata']['namespace']}/{item['metadata']['name']}"
        if item["spec"].get("active") is not False and self._clock() >= self.not_before.get(job, 0):
            checks = [{"name": CHECK, "state": "Pending", "message": "", "lastTransitionTime": self.time()}]
            self.tell(item, checks, QuotaReserved=True, Evicted=False)

    def evict(self, item: dict[str, Any], state: dict[str, Any]) -> None:
        """Do what a check asked for by Retry or Rejected."""
        about = item["metadata"]
        self.not_before[f"{about['namespace']}/{about['name']}"] = self._clock() + state.get("requeueAfterSeconds", 0)
        reset = [{**state, "state": "Pending", "message": "Reset", "lastTransitionTime": self.time()}]
        reset[0].pop("podSetUpdates", None)
        self.tell(item, reset, Evicted=True)
        if state["state"] == "Rejected":
            self._emulator.change(WORKLOADS, about["namespace"], about["name"], spec={"active": False})

    def tell(self, item: dict[str, Any], checks: Any = None, **conditions: bool | str) -> None:
        """Write conditions of a Workload, true where a text gives the reason, and its checks."""
        about = item["metadata"]
        found = {one["type"]: one for one in item["status"].get("conditions", ())}
        for kind, given in conditions.items():
            reason = given if isinstance(given, str) else "AdmissionCheck" if kind == "Evicted" else "Reason"
            about_it = {"reason": reason, "message": "", "lastTransitionTime": self.time()}
            found[kind] = {"type": kind, "status": str(bool(given)), **about_it}
        status: dict[str, Any] = {"conditions": list(found.values())}
        if checks is not None:
            status["admissionChecks"] = checks
        self._emulator.change(WORKLOADS, about["namespace"], about["name"], status=status)

    def _make_pods(self, item: dict[str, Any], updates: dict[str, dict[str, Any]]) -> None:
        about_it = item["metadata"]
        namespace, version = about_it["namespace"], item["apiVersion"]
        made_by = {"apiVersion": version, "kind": "Workload", "name": about_it["name"], "uid": about_it["uid"]}
        known = {pod["metadata"]["name"] for pod in self._emulator.all(PODS)}
        for one in item["spec"]["podSets"]:
            self._delete_beyond(item, one)
            template, update = one["template"], updates.get(one["name"], {})
            for index in range(one["count"]):
                name = f"{item['metadata']['uid']}-{one['name']}-{index}"
                if name in known:
                    continue
                about = {"name": name, "namespace": namespace, "uid": f"p{next(self._uids)}"}
                about["ownerReferences"] = [made_by]
                about["labels"] = merged(template["metadata"].get("labels"), update.get("labels"))
                about["annotations"] = merged(template["metadata"].get("annotations"), update.get("annotations"))
                selector = {"nodeSelector": update["nodeSelector"]} if "nodeSelector" in update else {}
                spec = template["spec"] | selector
                self._emulator.put(PODS, {"metadata": about, "spec": spec, "status": {"phase": "Pending"}})

    def _delete_beyond(self, item: dict[str, Any], of: dict[str, Any]) -> None:
        """An indexed Job that is scaled down deletes its pods with the highest indices."""
        about = item["metadata"]
        for pod in live_pods(self._emulator, f"{about['namespace']}/{about['name']}"):
            name, _, index = pod["metadata"]["name"].rpartition("-")
            if name == f"{about['uid']}-{of['name']}" and int(index) >= of["count"]:
                self._emulator.remove(JOBS, "pods", about["namespace"], pod["metadata"]["name"])

    def finish(self, name: str) -> None:
        """The pods of a Workload succeed."""
        for pod in live_pods(self._emulator, f"team/{name}"):
            self._emulator.change(PODS, "team", pod["metadata"]["name"], status={"phase": "Succeeded"})
        item = self._emulator.get(WORKLOADS, "team", name)
        assert item is not None
        self.tell(item, Finished=True)

    def time(self) -> str:
        """Now, as objects have it."""
        return datetime.fromtimestamp(self._clock(), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

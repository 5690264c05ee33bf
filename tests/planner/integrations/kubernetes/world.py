"""A small Kubernetes around the planner: Kueue, a Job controller, kube-scheduler, as far as they meet it."""

import itertools
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from planner.controller import Controller, Settings
from planner.controller.view import JobState
from planner.integrations.kubernetes.config import Kubernetes, KubernetesSite
from planner.integrations.kubernetes.extender_replies import filter_result, priorities
from planner.integrations.kubernetes.loop import KubernetesLoop
from planner.integrations.kubernetes.pods import Pod
from planner.model.cluster import Cluster
from tests.planner.integrations.kubernetes.contract import FILTER_RESULT, HOST_PRIORITIES, require, require_write
from tests.planner.integrations.kubernetes.emulator import Server, guards_of
from tests.planner.integrations.kubernetes.objects import CHECKS, NODES, PODS, WORKLOADS, merge
from tests.planner.integrations.kubernetes.scheduler import Scheduler
from tests.planner.simulate.grounds import BERT, CHAT, cluster

CHECK = "photonplan"
JOBS = "system:serviceaccount:kube-system:job-controller"
GPU = "nvidia.com/gpu"
RULES = {"greedy_budget_s": 60, "repair_budget_s": 10, "patience_s": 1e9}


def pod_spec(each: int, **more: Any) -> dict[str, Any]:
    limits = {"limits": {GPU: str(each)}} if each else {}
    return {"containers": [{"name": "main", "image": "x", "resources": limits}]} | more


def pod_set(pods: int, each: int, name: str = "main", **annotations: str) -> dict[str, Any]:
    about = {"annotations": {f"photonplan.io/{key.replace('_', '-')}": text for key, text in annotations.items()}}
    return {"name": name, "count": pods, "template": {"metadata": about, "spec": pod_spec(each)}}


class World:
    """One cluster of 4 nodes with 8 GPUs each, or another; each server is `shared_by` so many nodes."""

    def __init__(
        self, server: Server, folder: Path, fabric: str | Cluster = "fat_tree", shared_by: int = 1, **config: Any
    ) -> None:
        self.emulator, self.now_s = server.emulator, 1_800_000_000.0
        self.not_before: dict[str, float] = {}
        """by Workload: when Kueue takes it back"""
        self._shared_by = shared_by
        self._server, self._journal = server, folder / "journal.db"
        self._uids = itertools.count(1)
        self.cluster = cluster(fabric) if isinstance(fabric, str) else fabric
        servers = self.cluster.fabric.num_servers
        self.site = KubernetesSite(
            Kubernetes.model_validate(
                {"nodes": "n[0-3]", "workloads": {"bert": BERT, "chat": CHAT}, "default_workload": "bert", "say": "0 s"}
                | config
            ),
            self.cluster,
            {f"n{i}": self.cluster.fabric.server_name(i // shared_by) for i in range(servers * shared_by)},
        )
        self.applied: dict[str, Any] | None = None
        self.api = server.api()
        self.num_checked = 0
        self.said = ""
        """by the extender, of the last pod that it turned away"""
        self.held: dict[str, frozenset[tuple[str, int]]] = {}
        """by uid of a pod: the node and accelerators that it was bound with, whatever is written on it later"""
        self.emulator.guards = guards_of(**config)
        for name in self.site.server_of:
            self.emulator.put(NODES, node(name))
        if self.emulator.guards.check is not None:
            self.emulator.put(CHECKS, merge(self.emulator.guards.check, {"metadata": {"generation": 1}}))
        self.begin()

    def seat(self, device: tuple[int, int]) -> tuple[str, int]:
        """Node of an accelerator, and its index there."""
        fabric: Any = self.cluster.fabric
        if partitions := getattr(fabric, "partitions", ()):
            chip = np.unravel_index(device[1], fabric.sides)
            at, inside = zip(*(divmod(int(c), of) for c, of in zip(chip, partitions[0], strict=True)), strict=True)
            hosts = [side // of for side, of in zip(fabric.sides, partitions[0], strict=True)]
            number = device[0] * self._shared_by + int(np.ravel_multi_index(at, hosts))
            return f"n{number}", int(np.ravel_multi_index(inside, partitions[0]))
        number = device[0] * fabric.devices_per_server + device[1]
        share = fabric.devices_per_server // self._shared_by
        return f"n{number // share}", number % share

    # The planner

    def begin(self) -> None:
        settings = Settings.model_validate(RULES)
        cluster_of_new = None if self._journal.exists() else self.cluster
        self.controller = Controller(cluster_of_new, self._journal, settings)
        applied = None if self.applied is None else lambda: self.applied or {}
        self.loop = KubernetesLoop(self.controller, self.api, self.site, applied, lambda: self.now_s)

    def end(self) -> None:
        self.controller.close()

    def restart(self) -> None:
        self.end()
        self.begin()

    def close(self) -> None:
        self.end()
        self.api.close()

    def jobs(self) -> dict[str, JobState]:
        view = self.controller.view(1000)
        return {state.request.name: state for state in (*view.running, *view.waiting)}

    # Users

    def workload(
        self, name: str, *sets: dict[str, Any], namespace: str = "team", replaces: str = "", **spec: Any
    ) -> None:
        about: dict[str, Any] = {"name": name, "namespace": namespace, "uid": f"w{next(self._uids)}"}
        if replaces:
            about["annotations"] = {
                "kueue.x-k8s.io/elastic-job": "true",
                "kueue.x-k8s.io/workload-slice-replacement-for": f"{namespace}/{replaces}",
            }
        given = {"queueName": "q", "podSets": list(sets)} | spec
        self.emulator.put(WORKLOADS, {"metadata": about, "spec": given, "status": {}})

    def pod(self, name: str, each: int, gang: str, size: int, namespace: str = "team", **more: Any) -> dict[str, Any]:
        about = {
            "name": name, "namespace": namespace, "uid": f"p{next(self._uids)}",
            "labels": {"photonplan.io/gang": gang}, "annotations": {"photonplan.io/gang-size": str(size)},
        }  # fmt: skip
        item = {"metadata": about, "spec": pod_spec(each, **more), "status": {"phase": "Pending"}}
        self.emulator.put(PODS, item)
        return item

    def status(self, name: str, namespace: str = "team") -> dict[str, Any]:
        item = self.emulator.get(WORKLOADS, namespace, name)
        assert item is not None
        return item["status"]

    def check(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = self.status(name)["admissionChecks"][0]
        return found

    def pods(self, job: str | None = None) -> list[dict[str, Any]]:
        """Pods that have not ended, of one Workload or gang."""
        live = [item for item in self.emulator.all(PODS) if not Pod(item).is_over]
        return [item for item in live if job is None or owner(item) == job]

    # Kueue, and the Job controller

    def kueue(self) -> None:
        """One look of Kueue at all Workloads."""
        for item in self.emulator.all(WORKLOADS):
            status, about = item["status"], item["metadata"]
            if not self._true(status, "Finished"):
                self._kueue_on(item, status, about)

    def _kueue_on(self, item: dict[str, Any], status: dict[str, Any], about: dict[str, Any]) -> None:
        state = (status.get("admissionChecks") or [{"state": ""}])[0]
        job = f"{about['namespace']}/{about['name']}"
        if self._true(status, "Evicted") and self._true(status, "QuotaReserved"):
            pods = self.pods(job)
            for pod in pods:
                self.emulator.remove(JOBS, "pods", about["namespace"], pod["metadata"]["name"])
            if not pods:
                self._set(item, QuotaReserved=False, Admitted=False)
        elif not self._true(status, "QuotaReserved"):
            if item["spec"].get("active") is not False and self.now_s >= self.not_before.get(job, 0):
                checks = [{"name": CHECK, "state": "Pending", "message": "", "lastTransitionTime": self._time()}]
                self._set(item, checks, QuotaReserved=True, Evicted=False)
        elif state["state"] in ("Retry", "Rejected"):
            self.not_before[job] = self.now_s + state.get("requeueAfterSeconds", 0)
            reset = [{**state, "state": "Pending", "message": "Reset", "lastTransitionTime": self._time()}]
            reset[0].pop("podSetUpdates", None)
            self._set(item, reset, Evicted=True)
            if state["state"] == "Rejected":
                self.emulator.change(WORKLOADS, about["namespace"], about["name"], spec={"active": False})
        elif state["state"] == "Ready":
            if not self._true(status, "Admitted"):
                self._set(item, Admitted=True)
            self._make_pods(item, {update["name"]: update for update in state.get("podSetUpdates", ())})

    def _set(self, item: dict[str, Any], checks: Any = None, **conditions: bool) -> None:
        about = item["metadata"]
        found = {one["type"]: one for one in item["status"].get("conditions", ())}
        for kind, holds in conditions.items():
            reason = "AdmissionCheck" if kind == "Evicted" else "Reason"
            about_it = {"reason": reason, "message": "", "lastTransitionTime": self._time()}
            found[kind] = {"type": kind, "status": str(holds), **about_it}
        status: dict[str, Any] = {"conditions": list(found.values())}
        if checks is not None:
            status["admissionChecks"] = checks
        self.emulator.change(WORKLOADS, about["namespace"], about["name"], status=status)

    def _make_pods(self, item: dict[str, Any], updates: dict[str, dict[str, Any]]) -> None:
        about_it = item["metadata"]
        namespace, version = about_it["namespace"], item["apiVersion"]
        made_by = {"apiVersion": version, "kind": "Workload", "name": about_it["name"], "uid": about_it["uid"]}
        known = {pod["metadata"]["name"] for pod in self.emulator.all(PODS)}
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
                self.emulator.put(PODS, {"metadata": about, "spec": spec, "status": {"phase": "Pending"}})

    def _delete_beyond(self, item: dict[str, Any], of: dict[str, Any]) -> None:
        """An indexed Job that is scaled down deletes its pods with the highest indices."""
        about = item["metadata"]
        for pod in self.pods(f"{about['namespace']}/{about['name']}"):
            name, _, index = pod["metadata"]["name"].rpartition("-")
            if name == f"{about['uid']}-{of['name']}" and int(index) >= of["count"]:
                self.emulator.remove(JOBS, "pods", about["namespace"], pod["metadata"]["name"])

    def finish(self, name: str) -> None:
        """The pods of a Workload succeed."""
        for pod in self.pods(f"team/{name}"):
            self.emulator.change(PODS, "team", pod["metadata"]["name"], status={"phase": "Succeeded"})
        item = self.emulator.get(WORKLOADS, "team", name)
        assert item is not None
        self._set(item, Finished=True)

    @staticmethod
    def _true(status: dict[str, Any], kind: str) -> bool:
        return any(one["type"] == kind and one["status"] == "True" for one in status.get("conditions", ()))

    def _time(self) -> str:
        return datetime.fromtimestamp(self.now_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    # kube-scheduler

    def schedule(self) -> dict[str, str]:
        """Try each pod that is on no node once; what was said to those that stay so, by name."""
        said = {}
        for item in self.emulator.all(PODS):
            pod = Pod(item)
            if not pod.node and not pod.is_over:
                because = self.try_pod(item)
                if because:
                    said[pod.name] = because
        return said

    def candidates(self, item: dict[str, Any], assumed: Mapping[str, str] | None = None) -> list[str]:
        """Nodes that are ready, match the selector, and have as many GPUs left by count; `assumed`: nodes of pods that
        are being bound, by uid."""
        wanted = item["spec"].get("nodeSelector", {}).get("kubernetes.io/hostname")
        gpus = _gpus(item)
        free = {one["metadata"]["name"]: self.site.per_node for one in self.emulator.all(NODES) if _is_open(one)}
        for other in map(Pod, self.emulator.all(PODS)):
            node = other.node or (assumed or {}).get(other.uid, "")
            if node in free and not other.is_over:
                free[node] -= _gpus(other.item)
        return [name for name, count in free.items() if count >= gpus and wanted in (None, f"{name}.local")]

    def filter(self, item: dict[str, Any], names: list[str]) -> list[str]:
        """Nodes that the extender leaves of these; why not the others is in `said`."""
        extender = self.loop.extender
        verdict = extender.judge(extender.read(item))
        answer = filter_result(verdict, names, None)
        require(FILTER_RESULT, answer)
        failed = answer["FailedNodes"] | answer["FailedAndUnresolvableNodes"]
        assert sorted([*answer["NodeNames"], *failed]) == sorted(names), "every node is answered for once"
        require(HOST_PRIORITIES, priorities(verdict, answer["NodeNames"]))
        self.said = next(iter(failed.values()), verdict.why or "no node")
        kept: list[str] = answer["NodeNames"]
        return kept

    def bind(self, item: dict[str, Any], node: str) -> None:
        """Have the extender bind a pod; RuntimeError for what it says."""
        about, extender = item["metadata"], self.loop.extender
        found = Pod(extender.fetch(about["namespace"], about["name"], about["uid"]))
        judged = extender.judge(extender.read(found.item))
        said = extender.bind(found, node, judged)
        if said:
            raise RuntimeError(said)
        if judged.assignment is not None:
            place = self.controller.running[judged.job]
            own = set(map(self.seat, place.devices))
            assert {(node, index) for index in judged.assignment.indices} <= own, "it lands as planned"
            self.held[found.uid] = frozenset((node, index) for index in judged.assignment.indices)

    def try_pod(self, item: dict[str, Any]) -> str:
        """Filter, then bind; what was said, or nothing."""
        kept = self.filter(item, self.candidates(item))
        if not kept:
            return self.said
        try:
            self.bind(item, kept[0])
        except RuntimeError as error:
            return str(error)
        return ""

    def queue(self) -> Scheduler:
        """A scheduler that tries pods when the real one would."""
        return Scheduler(self.emulator, self, lambda: self.now_s, self.candidates)

    def kubelets(self) -> None:
        """Pods that are being deleted have stopped."""
        for item in self.emulator.all(PODS):
            if item["metadata"].get("deletionTimestamp"):
                self.emulator.drop(PODS, item["metadata"]["namespace"], item["metadata"]["name"])

    # All of it

    def settle(self, rounds: int = 8, queue: Scheduler | None = None) -> dict[str, str]:
        """Rounds of a second; without a queue, in each of them all pods are tried."""
        said: dict[str, str] = {}
        for _ in range(rounds):
            self.kueue()
            self.kubelets()
            self.loop.tick()
            if queue is None:
                said = self.schedule()
            else:
                queue.step()
            self.now_s += 1
            self.require_sound()
        return said

    def require_sound(self) -> None:
        """Nothing is used twice, every pod has what it asked for, and all that was written the API would take."""
        used: dict[tuple[str, int], str] = {}
        for pod in map(Pod, self.pods()):
            if not pod.node or not _gpus(pod.item):
                continue
            assert len(pod.indices) == _gpus(pod.item), pod.name
            for one in self.held.get(pod.uid, frozenset((pod.node, index) for index in pod.indices)):
                assert used.setdefault(one, pod.name) == pod.name, f"{one} is used twice"
        for write in self.emulator.asked[self.num_checked :]:
            require_write(*write)
        self.num_checked = len(self.emulator.asked)


def _gpus(item: dict[str, Any]) -> int:
    return sum(int(one["resources"].get("limits", {}).get(GPU, 0)) for one in item["spec"]["containers"])


def _is_open(item: dict[str, Any]) -> bool:
    return item["status"]["conditions"][0]["status"] == "True" and not item["spec"].get("unschedulable")


def owner(item: dict[str, Any]) -> str:
    """Namespace and name of what made a pod; nothing for none."""
    about = item["metadata"]
    return "".join(f"{about['namespace']}/{one['name']}" for one in about.get("ownerReferences") or ())


def node(name: str) -> dict[str, Any]:
    ready = {"type": "Ready", "status": "True"}
    about = {"name": name, "labels": {"kubernetes.io/hostname": f"{name}.local"}}
    return {"metadata": about, "spec": {}, "status": {"conditions": [ready]}}


def merged(*parts: dict[str, str] | None) -> dict[str, str]:
    """Additions only: Kueue refuses a key that is there already with another value."""
    found: dict[str, str] = {}
    for part in parts:
        for key, text in (part or {}).items():
            assert found.setdefault(key, text) == text, f"{key} is given twice"
    return found

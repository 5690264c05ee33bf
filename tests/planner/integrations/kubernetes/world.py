"""A small Kubernetes around the planner: Kueue, a Job controller, kube-scheduler, as far as they meet it."""

import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from planner.controller import Controller, Settings
from planner.controller.view import JobState
from planner.integrations.kubernetes.config import Kubernetes, KubernetesSite
from planner.integrations.kubernetes.extender_replies import filter_result, priorities
from planner.integrations.kubernetes.loop import KubernetesLoop
from planner.integrations.kubernetes.manifests import scheduler_configuration
from planner.integrations.kubernetes.pods import Pod
from planner.model.cluster import Cluster
from tests.planner.integrations.kubernetes.contract import FILTER_RESULT, HOST_PRIORITIES, require, require_write
from tests.planner.integrations.kubernetes.elastic_jobs import ElasticJobs
from tests.planner.integrations.kubernetes.emulator import Server, guards_of
from tests.planner.integrations.kubernetes.items import gpus, is_open, node, pod_spec
from tests.planner.integrations.kubernetes.kueue import Kueue, live_pods
from tests.planner.integrations.kubernetes.objects import CHECKS, NODES, PODS, WORKLOADS, merge
from tests.planner.integrations.kubernetes.scheduler import Scheduler
from tests.planner.simulate.grounds import BERT, CHAT, cluster

RULES = {"greedy_budget_s": 60, "repair_budget_s": 10, "patience_s": 1e9}


class World:
    """One cluster of 4 nodes with 8 GPUs each, or another; each server is `shared_by` so many nodes."""

    def __init__(
        self, server: Server, folder: Path, fabric: str | Cluster = "fat_tree", shared_by: int = 1, **config: Any
    ) -> None:
        self.emulator, self.now_s = server.emulator, 1_800_000_000.0
        self._shared_by = shared_by
        self._server, self._journal = server, folder / "journal.db"
        self._uids = itertools.count(1)
        self.queues = Kueue(self.emulator, lambda: self.now_s, self._uids)
        self.elastic = ElasticJobs(self.emulator, self.queues, self._uids)
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
        (extender,) = yaml.safe_load(scheduler_configuration(self.site.config, "ns"))["extenders"]
        self._are_gpus_ignored = all(one["ignoredByScheduler"] for one in extender["managedResources"])
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

    def workload(self, name: str, *sets: dict[str, Any], namespace: str = "team", **spec: Any) -> None:
        about: dict[str, Any] = {"name": name, "namespace": namespace, "uid": f"w{next(self._uids)}"}
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
        return live_pods(self.emulator, job)

    # Kueue, and the Job controller

    def kueue(self) -> None:
        """One look of Kueue at all Workloads and elastic Jobs."""
        self.queues.look()
        self.elastic.look()

    def finish(self, name: str) -> None:
        """The pods of a Workload succeed."""
        self.queues.finish(name)

    # kube-scheduler

    def schedule(self) -> dict[str, str]:
        """Try each pod that is on no node once; what was said to those that stay so, by name."""
        said = {}
        for item in self.emulator.all(PODS):
            pod = Pod(item)
            if not pod.node and not pod.is_over and not pod.spec.get("schedulingGates"):
                because = self.try_pod(item)
                if because:
                    said[pod.name] = because
        return said

    def candidates(self, item: dict[str, Any], assumed: Mapping[str, str] | None = None) -> list[str]:
        """Nodes that are ready and match the selector, and, unless the extender alone counts these, have as many GPUs
        left; `assumed`: nodes of pods that are being bound, by uid."""
        wanted = item["spec"].get("nodeSelector", {}).get("kubernetes.io/hostname")
        wished = gpus(item)
        free = {one["metadata"]["name"]: self.site.per_node for one in self.emulator.all(NODES) if is_open(one)}
        for other in () if self._are_gpus_ignored else map(Pod, self.emulator.all(PODS)):
            node = other.node or (assumed or {}).get(other.uid, "")
            if node in free and not other.is_over:
                free[node] -= gpus(other.item)
        return [name for name, count in free.items() if count >= wished and wanted in (None, f"{name}.local")]

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
            if not pod.node or not gpus(pod.item):
                continue
            assert len(pod.indices) == gpus(pod.item), pod.name
            for one in self.held.get(pod.uid, frozenset((pod.node, index) for index in pod.indices)):
                assert used.setdefault(one, pod.name) == pod.name, f"{one} is used twice"
        for write in self.emulator.asked[self.num_checked :]:
            require_write(*write)
        self.num_checked = len(self.emulator.asked)

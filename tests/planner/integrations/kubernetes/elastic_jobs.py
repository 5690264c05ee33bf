"""Elastic Jobs of Kueue, as KEP 77 and the release notes of 0.14 to 0.20 tell it (`ElasticJobsViaWorkloadSlices`).

- A Job has at most two Workloads that are not finished. A smaller number, or another one before there is quota, is
  written into the last of them; a larger one makes a new Workload, a slice, that names the one whose place it takes.
- The new slice has quota, and the one before is finished, in one cycle of the scheduler, before any check is asked:
  releases before 0.16.9 finish first, later ones last, and where either write fails the rest comes later, or as out of
  sync. A slice that is deleted is made again, without saying whom it replaces if that one is finished.
- Pods are made with a scheduling gate, from the template that was stamped when the Job was started: it stays while the
  Job runs. Gates go when the last slice is admitted, for as many pods as it has, those of the lowest names first; of
  its updates a pod then gets the node selector alone.
- A slice whose check says Retry or Rejected is evicted: the Job is suspended, and all of its pods stop. Its template is
  put back to that of the slice. A slice that was made while the Job ran has what the template was stamped with, so that
  this stays; another value for a key of it ends the Workload as FailedToStart when the Job is started again (#12994).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.planner.integrations.kubernetes.emulator import Emulator
from tests.planner.integrations.kubernetes.items import holds, merged, pod_set
from tests.planner.integrations.kubernetes.kueue import ELASTIC_JOB, JOBS, Kueue, live_pods
from tests.planner.integrations.kubernetes.objects import PODS, WORKLOADS

REPLACES, CHAIN = "kueue.x-k8s.io/workload-slice-replacement-for", "kueue.x-k8s.io/workload-slice-name"
GATE, INDEX = "kueue.x-k8s.io/elastic-job", "batch.kubernetes.io/job-completion-index"
REPLACED, OUT_OF_SYNC = "WorkloadSliceReplaced", "OutOfSync"
Item = dict[str, Any]


@dataclass
class Job:
    """A batch/v1 Job with indices."""

    name: str
    uid: str
    each: int
    parallelism: int
    about: dict[str, str]
    """annotations of its template"""
    generation: int = 1
    is_suspended: bool = True
    is_over: bool = False
    stamped: Item = field(default_factory=dict)
    """what the template got when the Job was started"""
    left: Item = field(default_factory=dict)
    """labels and annotations of its template that are of before it was stopped"""

    @property
    def owner(self) -> Item:
        return {"apiVersion": "batch/v1", "kind": "Job", "name": self.name, "uid": self.uid, "controller": True}

    @property
    def pods(self) -> Item:
        """With what the template was stamped with, while it runs and afterwards."""
        found = pod_set(self.parallelism, self.each, **self.about)
        about = found["template"]["metadata"]
        for part in (self.left, self.stamped):
            for name in ("labels", "annotations"):
                about[name] = merged(about.get(name), part.get(name))
        return found

    def stop(self, pods: Item) -> None:
        """`pods`: the pod set of its last Workload."""
        if not self.is_suspended:
            self.left = {name: dict(pods["template"]["metadata"].get(name) or {}) for name in ("labels", "annotations")}
        self.is_suspended, self.stamped = True, {}


class ElasticJobs:
    """Those of one namespace, with Kueue's controllers and the one of Jobs; each look takes one step of each."""

    def __init__(self, emulator: Emulator, queues: Kueue, uids: Iterator[int]) -> None:
        self._emulator, self._queues, self._uids = emulator, queues, uids
        self.jobs: dict[str, Job] = {}
        self.has_quota = True
        """for slices that grow"""
        self.finishes = "last"
        """when a replaced slice is: "first" (a look before the new one has quota), "last", or "late" (a look after)"""

    def submit(self, name: str, pods: int, each: int, **about: str) -> None:
        self.jobs[name] = Job(name, f"j{next(self._uids)}", each, pods, about)

    def scale(self, name: str, pods: int) -> None:
        job = self.jobs[name]
        job.parallelism, job.generation = pods, job.generation + 1

    def finish(self, name: str) -> None:
        """Its pods succeed: those with a gate are deleted, and its Workloads are finished."""
        job = self.jobs[name]
        job.is_over = True
        for pod in self.pods(name):
            about = pod["metadata"]
            if pod["spec"].get("nodeName"):
                self._emulator.change(PODS, "team", about["name"], status={"phase": "Succeeded"})
            else:
                self._emulator.remove(JOBS, "pods", "team", about["name"])

    def remove(self, name: str) -> None:
        """A Job that has ended is deleted, with all that it owns."""
        uid = self.jobs.pop(name).uid
        for resource in (WORKLOADS, PODS):
            for item in self._emulator.all(resource, lambda raw: _owner_uid(raw) == uid):
                self._emulator.drop(resource, "team", item["metadata"]["name"])

    def delete(self, workload: str) -> None:
        self._emulator.drop(WORKLOADS, "team", workload)

    def pods(self, name: str) -> list[Item]:
        return live_pods(self._emulator, f"team/{name}")

    def slices(self, name: str) -> list[Item]:
        """Workloads of a Job that are not finished, the oldest first."""
        uid = self.jobs[name].uid
        found = self._emulator.all(
            WORKLOADS, lambda raw: _owner_uid(raw) == uid and not holds(raw["status"], "Finished")
        )
        return sorted(found, key=lambda item: (item["metadata"]["creationTimestamp"], int(item["metadata"]["uid"][1:])))

    def look(self) -> None:
        for job in self.jobs.values():
            if job.is_over:
                for item in self.slices(job.name):
                    self._queues.tell(item, Finished="Succeeded")
                continue
            self._slice(job)
            self._reserve(self.slices(job.name))
            if live := self.slices(job.name):
                self._follow(job, live[-1])
            self._make_pods(job)

    def _slice(self, job: Job) -> None:
        """Have the Workloads say how many pods the Job asks for."""
        live = self.slices(job.name)
        if not live:
            self._create(job, {CHAIN: self._name(job)})
            return
        old, new = live[0], live[-1]
        if len(live) > 1 and (not _has_quota(old) or holds(old["status"], "Evicted") or _has_quota(new)):
            self._queues.tell(old, Finished=OUT_OF_SYNC)
        (pods,) = new["spec"]["podSets"]
        if pods["count"] < job.parallelism and len(live) == 1 and _has_quota(new):
            about = new["metadata"]
            self._create(job, {CHAIN: about["annotations"][CHAIN], REPLACES: f"team/{about['name']}"})
        elif pods["count"] != job.parallelism:
            changed = {"podSets": [pods | {"count": job.parallelism}]}
            self._emulator.change(WORKLOADS, "team", new["metadata"]["name"], spec=changed)

    @staticmethod
    def _name(job: Job) -> str:
        return f"job-{job.name}-{job.generation:05x}"

    def _create(self, job: Job, annotations: dict[str, str]) -> None:
        about = {
            "name": self._name(job), "namespace": "team", "uid": f"w{next(self._uids)}",
            "creationTimestamp": self._queues.time(), "ownerReferences": [job.owner],
            "annotations": annotations | {ELASTIC_JOB: "true"},
        }  # fmt: skip
        self._emulator.put(
            WORKLOADS, {"metadata": about, "spec": {"queueName": "q", "podSets": [job.pods]}, "status": {}}
        )

    def _reserve(self, live: list[Item]) -> None:
        """One cycle of Kueue's scheduler for the last slice."""
        if not live or _has_quota(live[-1]) or (len(live) > 1 and not self.has_quota):
            return
        new = live[-1]
        replaced = new["metadata"]["annotations"].get(REPLACES)
        old = next((item for item in live if f"team/{item['metadata']['name']}" == replaced), None)
        if old is not None and self.finishes == "first":
            self._queues.tell(old, Finished=REPLACED)
            return
        self._queues.reserve(new)
        if old is not None and self.finishes == "last":
            self._queues.tell(old, Finished=REPLACED)

    def _follow(self, job: Job, item: Item) -> None:
        status = item["status"]
        state: Item = (status.get("admissionChecks") or [{"state": ""}])[0]
        if holds(status, "Evicted") and _has_quota(item):
            job.stop(item["spec"]["podSets"][0])
            if not self.pods(job.name):
                self._queues.tell(item, QuotaReserved=False, Admitted=False)
        elif state["state"] in ("Retry", "Rejected"):
            self._queues.evict(item, state)
        elif state["state"] == "Ready" and _has_quota(item):
            updates = {one["name"]: one for one in state.get("podSetUpdates", ())}
            if not holds(status, "Admitted"):
                self._queues.tell(item, Admitted=True)
            if job.is_suspended:
                job.is_suspended, job.stamped = False, updates.get("main", {})
            self._release(job, item, updates.get("main", {}))

    def _release(self, job: Job, item: Item, update: Item) -> None:
        """Take the gates from as many pods as the admitted slice has."""
        pods = sorted(self.pods(job.name), key=lambda pod: str(pod["metadata"]["name"]))
        gated = [pod for pod in pods if pod["spec"].get("schedulingGates")]
        room = item["spec"]["podSets"][0]["count"] - (len(pods) - len(gated))
        for pod in gated[: max(room, 0)]:
            selector = merged(pod["spec"].get("nodeSelector"), update.get("nodeSelector"))
            spec = {"schedulingGates": None} | ({"nodeSelector": selector} if selector else {})
            self._emulator.change(PODS, "team", pod["metadata"]["name"], spec=spec)

    def _make_pods(self, job: Job) -> None:
        """The controller of Jobs: pods of the highest indices go first, one that failed is made again."""
        here = {int(pod["metadata"]["annotations"][INDEX]): pod for pod in self.pods(job.name)}
        wanted = range(0 if job.is_suspended else job.parallelism)
        for index, pod in here.items():
            if index not in wanted:
                self._emulator.remove(JOBS, "pods", "team", pod["metadata"]["name"])
        for index in wanted:
            if index not in here:
                self._make_pod(job, index)

    def _make_pod(self, job: Job, index: int) -> None:
        template, uid = job.pods["template"], f"p{next(self._uids)}"
        own = {INDEX: str(index)}
        about = {
            "name": f"{job.name}-{index}-{uid}", "namespace": "team", "uid": uid, "ownerReferences": [job.owner],
            "labels": merged(template["metadata"]["labels"], own),
            "annotations": merged(template["metadata"]["annotations"], own),
        }  # fmt: skip
        spec = template["spec"] | {"schedulingGates": [{"name": GATE}]}
        if "nodeSelector" in job.stamped:
            spec["nodeSelector"] = job.stamped["nodeSelector"]
        self._emulator.put(PODS, {"metadata": about, "spec": spec, "status": {"phase": "Pending"}})


def _owner_uid(item: Item) -> str:
    return "".join(one["uid"] for one in item["metadata"].get("ownerReferences") or ())


def _has_quota(item: Item) -> bool:
    return holds(item["status"], "QuotaReserved")

"""The admission check of Kueue: Workloads with quota become jobs, and are admitted once they have a place and light.

Nothing is remembered that matters: each look compares Workloads with jobs of the controller and acts on the
difference, so that a planner that died goes on where it was.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from planner.controller.controller import Controller
from planner.controller.view import JobState
from planner.integrations.kubernetes.client import ApiError, KubernetesClient, path_of, refusals_logged
from planner.integrations.kubernetes.config import CONTROLLER, KubernetesSite, Object
from planner.integrations.kubernetes.elastic import current, is_part, left, resized, stays, unasked, with_own_jobs
from planner.integrations.kubernetes.gang_lifecycle import assignment_key, by_key
from planner.integrations.kubernetes.holders import Holders
from planner.integrations.kubernetes.hot_swap import admitted_in, swapped
from planner.integrations.kubernetes.informer import Informer
from planner.integrations.kubernetes.jobs import Applied, all_jobs, dark, leave, placed, shrunk, wait_no_more
from planner.integrations.kubernetes.pod_assignment import (
    VISIBLE,
    SplitError,
    devices_in,
    devices_of,
    pod_assignments_of,
    updates_of,
)
from planner.integrations.kubernetes.pod_groups import PodGroupError
from planner.integrations.kubernetes.pods import annotated_job, bound, in_the_way
from planner.integrations.kubernetes.workloads import BY_CHECK, Workload
from planner.model.errors import ConflictError, FullError, InputError, UnknownError
from planner.model.phrases import few
from planner.placement.placement import Place

MOST_MESSAGE = 32768
UNASKED = "without asking where they may run: have it ask the planner's extender (scheduler.yaml), then delete them"


class Admission:
    """The controller of one AdmissionCheck."""

    def __init__(
        self,
        controller: Controller,
        api: KubernetesClient,
        site: KubernetesSite,
        pods: Informer,
        holders: Holders,
        label: Callable[[str], str],
        applied: Applied | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`label`: value of the label of a node that selectors go by; `applied`: circuits that are surely on, None
        where there is no driver to wait for."""
        self._group = f"kueue.x-k8s.io/{site.config.kueue}"
        self.informer = Informer(api, path_of(self._group, "workloads"))
        self._controller, self._api, self._site, self._pods = controller, api, site, pods
        self._holders, self._label, self._applied, self._clock = holders, label, applied, clock
        self._said_s: dict[str, float] = {}
        """when each Workload was last told why it waits"""

    def reconcile(self) -> None:
        """Compare all Workloads with all jobs, and act on the difference."""
        self._be_active()
        by_job: dict[str, list[Workload]] = defaultdict(list)
        for workload in map(Workload, self.informer.objects.values()):
            by_job[workload.job].append(workload)
        jobs = all_jobs(self._controller)
        applied = None if self._applied is None else self._applied()
        for name, slices in by_job.items():
            alone = with_own_jobs(slices, jobs)
            for one in alone:
                self._follow(one, jobs.pop(one.job), applied)
            last = current(slices)
            if not alone:
                self._follow(last, jobs.pop(name, None), applied)
            elif last.condition("QuotaReserved") and last.item is not alone[0].item:
                self._say(last, "Pending", "pods that an earlier release has admitted run on; start the Job anew")
        for name, state in jobs.items():
            if name.count("/") == 1:
                self._leave(state, ended=False)
        self._said_s = {name: self._said_s.get(name, 0.0) for name in by_job}

    def _be_active(self) -> None:
        """Say that somebody answers: queues whose check nobody does are not served."""
        path = path_of(self._group, "admissionchecks", name=self._site.config.check)
        check = self._api.get(path)
        if (check.get("spec") or {}).get("controllerName") != CONTROLLER:
            raise ApiError(0, f"AdmissionCheck {self._site.config.check} is of another controller, not {CONTROLLER}")
        conditions = list((check.get("status") or {}).get("conditions") or ())
        if any(one.get("type") == "Active" and one.get("status") == "True" for one in conditions):
            return
        active = {
            "type": "Active", "status": "True", "reason": "Active", "message": "the planner answers",
            "lastTransitionTime": self._now(), "observedGeneration": check["metadata"].get("generation", 0),
        }  # fmt: skip
        others = [one for one in conditions if one.get("type") != "Active"]
        self._patch(f"{path}/status", check, {"conditions": [*others, active]})

    def _follow(self, workload: Workload, job: JobState | None, applied: Mapping[str, Any] | None) -> None:
        said = workload.check(self._site.config.check)
        if workload.condition("Finished"):
            self._leave(job, ended=True)
        elif said is None or not workload.condition("QuotaReserved"):
            if not self._is_sent_back(workload):
                self._leave(job, ended=False)
        elif workload.condition("Evicted") or not workload.is_active:
            return
        elif said["state"] == "Ready":
            self._watch_over(workload, said, job)
        elif said["state"] == "Pending":
            try:
                self._answer(workload, job, applied)
            except (UnknownError, ConflictError) as error:
                self._say(workload, "Pending", f"somebody else has changed its job: {error}")
            except FullError as error:
                self._say(workload, "Pending", str(error))
            except (PodGroupError, InputError) as error:
                runs_on = bool(workload.replaces) or (workload.is_elastic and self._holders.has(workload.job))
                self._leave(job, ended=False)
                self._say(workload, "Pending" if runs_on else "Rejected", str(error))

    def _is_sent_back(self, workload: Workload) -> bool:
        """True if it lost its place a short time ago: its pods stop and it comes back, meanwhile its job stays."""
        evicted = workload.condition("Evicted")
        if evicted is None or evicted.get("reason") != BY_CHECK or not workload.is_active:
            return False
        try:
            since_s = datetime.fromisoformat(str(evicted["lastTransitionTime"])).timestamp()
        except (KeyError, ValueError):
            return False
        return self._clock() < since_s + self._site.config.hold_s

    def _leave(self, job: JobState | None, *, ended: bool) -> None:
        """Let a job go once no pod stands for it."""
        if job is not None and not self._holders.has(job.request.name):
            leave(self._controller, job, ended=ended)

    def _watch_over(self, workload: Workload, said: Object, job: JobState | None) -> None:
        """Send an admitted Workload back if its job is not where it was told."""
        if (admitted := devices_in(said.get("podSetUpdates"))) is None:
            return
        wait_no_more(self._controller, job)
        if job is None:
            because = "the planner has no such job any more"
        elif job.place is None:
            because = "its place is lost: " + ("" if job.waits_for is None else job.waits_for.because)
        elif devices_of(job.place) == admitted or is_part(job.place, admitted) or self._stand(workload, job.place):
            if not self._shrink(workload, said, job, job.place):
                self._tell_unasked(workload, said, job.place)
            return
        else:
            if workload.has_hot_swap and self._swap(workload, said, job.place):
                return
            because = f"it moves to {', '.join(dict.fromkeys(self._nodes(job.place)))}"
        self._say(workload, "Retry", because)

    def _stand(self, workload: Workload, place: Place | None) -> bool:
        """True if all bound pods of an elastic job stand where the job is, though it may be elsewhere than they were
        told: it has grown."""
        pods = bound(self._pods.objects.values(), self._site.config.resources)
        own = [assignment_key(pod) for pod in pods if annotated_job(pod) == workload.job]
        try:
            pod_group = workload.pod_group(self._site)
            if pod_group is None or not pod_group.is_elastic or place is None:
                return pod_group is not None and pod_group.is_elastic and not own
            return not own or {*own} <= by_key(pod_assignments_of(place, pod_group.each, self._site)).keys()
        except (PodGroupError, SplitError):
            return False

    def _tell_unasked(self, workload: Workload, said: Object, place: Place) -> None:
        """Name pods of an elastic job that kube-scheduler has bound anywhere, as it does without the extender."""
        names = unasked(workload, bound(self._pods.objects.values(), self._site.config.resources))
        if names:
            self._say(workload, "Ready", f"kube-scheduler has bound {few(names)} {UNASKED}", said["podSetUpdates"])
        elif UNASKED in str(said.get("message")):
            self._say(workload, "Ready", self._runs_on(place), said["podSetUpdates"])

    def _shrink(self, workload: Workload, said: Object, job: JobState, place: Place) -> bool:
        """Give back the accelerators of pods that are gone since the Workload asks for fewer; true if it did."""
        pods = bound(self._pods.objects.values(), self._site.config.resources)
        try:
            pod_group = workload.pod_group(self._site)
            now = () if pod_group is None else pod_assignments_of(place, pod_group.each, self._site)
            kept = [] if pod_group is None else left(now, workload.job, pods, pod_group.pods)
        except (PodGroupError, SplitError):
            return False
        if pod_group is None or not kept or not admitted_in(said["podSetUpdates"]):
            return False
        ranks = [rank for one in kept for rank in one.ranks]
        names = [place.device_names[rank] for rank in sorted(ranks)]
        if not shrunk(self._controller, pod_group, job, names):
            return False
        gone = ", ".join(dict.fromkeys(one.node for one in now if one not in kept))
        self._say(workload, "Ready", f"has become smaller, and leaves {gone}", said["podSetUpdates"])
        return True

    def _swap(self, workload: Workload, said: Object, place: Place) -> bool:
        """Delete the pods that stand where the job is not any more; False where all have to be made anew."""
        admitted = admitted_in(said["podSetUpdates"])
        if not admitted or place.has_circuits:
            return False
        try:
            now = swapped(admitted, pod_assignments_of(place, len(admitted[0].ranks), self._site))
        except SplitError:
            return False
        if now is None:
            return False
        here = by_key(now)
        for pod in bound(self._pods.objects.values(), self._site.config.resources):
            is_of = annotated_job(pod) == workload.job and VISIBLE in pod.annotations
            if is_of and assignment_key(pod) not in here and not pod.is_leaving:
                with refusals_logged():
                    self._api.delete(path_of("v1", "pods", pod.namespace, pod.name), pod.uid)
        return True

    def _runs_on(self, place: Place) -> str:
        return f"runs on {', '.join(dict.fromkeys(self._nodes(place)))}"

    def _nodes(self, place: Place) -> list[str]:
        return [self._site.on_node(*device)[0] for device in place.devices]

    def _answer(self, workload: Workload, job: JobState | None, applied: Mapping[str, Any] | None) -> None:
        pod_group = workload.pod_group(self._site)
        if pod_group is None:
            self._leave(job, ended=False)
            self._say(workload, "Ready", "it takes no accelerators")
            return
        if job is not None and pod_group.is_elastic and not self._stand(workload, job.place):
            self._say(workload, "Retry", "pods of before stand where their job is not any more")
            return
        if job is not None and job.request not in pod_group.requests and self._holders.has(workload.job):
            because = resized(self._controller, pod_group, job)
            if because:
                self._say(workload, "Pending", f"waits, and pods of before run on: {because}")
                return
            job = self._controller.job(workload.job)
        else:
            job = placed(self._controller, self._site, pod_group, job)
        if job.place is None:
            because = "" if job.waits_for is None else job.waits_for.because
            self._say(workload, "Pending", f"waits: {because}")
            return
        try:
            updates = updates_of(pod_group, job.place, self._site, self._label)
        except PodGroupError:
            self._leave(job, ended=False)
            raise
        if dark(job, applied):
            self._say(workload, "Pending", "has a place; its circuits are being connected")
            return
        assignments = pod_assignments_of(job.place, pod_group.each, self._site)
        pods = bound(self._pods.objects.values(), self._site.config.resources)
        others = (pod for pod in pods if not (pod_group.is_elastic and stays(pod, workload.job, assignments)))
        pod = in_the_way(assignments, others)
        if pod is not None:
            self._say(workload, "Pending", f"has a place; {pod.namespace}/{pod.name} still leaves {pod.node}")
            return
        self._say(workload, "Ready", self._runs_on(job.place), workload.for_each_pod_set(updates))

    def _say(self, workload: Workload, state: str, message: str, updates: list[Object] | None = None) -> None:
        """Write what the check says now, if it said something else."""
        name, status = self._site.config.check, workload.status
        before = workload.check(name) or {}
        after = {key: one for key, one in before.items() if key not in ("podSetUpdates", "requeueAfterSeconds")}
        after |= {"name": name, "state": state, "message": message[:MOST_MESSAGE]}
        if updates:
            after["podSetUpdates"] = updates
        if state == "Retry":
            after["requeueAfterSeconds"] = round(self._site.config.requeue_s)
        if after == before or (state == before.get("state") == "Pending" and self._has_just_spoken(workload.job)):
            return
        if state != before.get("state") or "lastTransitionTime" not in after:
            after["lastTransitionTime"] = self._now()
        checks = [after if one.get("name") == name else one for one in status["admissionChecks"]]
        path = path_of(self._group, "workloads", workload.namespace, workload.name, "status")
        self._patch(path, workload.item, {"admissionChecks": checks})
        self._said_s[workload.job] = self._clock()

    def _has_just_spoken(self, job: str) -> bool:
        """Reasons to wait change with every event: they are told now and then."""
        return self._clock() < self._said_s.get(job, 0.0) + self._site.config.say_s

    def _patch(self, path: str, item: Object, status: Object) -> None:
        body = {"metadata": {"resourceVersion": item["metadata"].get("resourceVersion")}, "status": status}
        with refusals_logged():
            self._api.patch(path, body)

    def _now(self) -> str:
        return datetime.fromtimestamp(self._clock(), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

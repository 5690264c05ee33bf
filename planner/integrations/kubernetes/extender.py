"""An extender of the scheduler: asked pod by pod, it answers from the one place of the whole gang.

Questions come in three steps: `read` may take long and changes nothing, `judge` is one call of the controller, and
`bind` asks the API. A pod is told its node when its job has a place, and bound when its circuits are on: binding is
waited for beside all other pods, while a filter that waits would hold up all of them.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from planner.controller.controller import Controller
from planner.controller.view import JobState
from planner.integrations.kubernetes.assumed_pods import FRESH_S, AssumedPods
from planner.integrations.kubernetes.client import ApiError, KubernetesClient, path_of
from planner.integrations.kubernetes.config import KubernetesSite, Object
from planner.integrations.kubernetes.elastic import still_held
from planner.integrations.kubernetes.gang_lifecycle import assignment_key, by_key, gang_pod_group
from planner.integrations.kubernetes.hot_swap import HOT_SWAP, swapped
from planner.integrations.kubernetes.informer import Informer
from planner.integrations.kubernetes.jobs import Applied, Circuits, dark, placed
from planner.integrations.kubernetes.pod_assignment import (
    ASSIGNMENT,
    ELASTIC,
    GANG,
    JOB,
    VISIBLE,
    PodAssignment,
    SplitError,
    pod_assignments_of,
    written,
)
from planner.integrations.kubernetes.pod_groups import PodGroup, PodGroupError, accelerators_of, whole_number
from planner.integrations.kubernetes.pods import Pod, annotated_job, bound, in_the_way, is_gang, job_of, num_taken
from planner.model.errors import ConflictError, FullError, InputError, UnknownError

INDEX = "batch.kubernetes.io/job-completion-index"
"""annotation and label of a pod of an indexed Job"""


@dataclass(frozen=True)
class PodVerdict:
    """Verdict on one pod: its assignment; any node; or none now, and why."""

    assignment: PodAssignment | None = None
    why: str = ""
    never: bool = False
    """whether waiting does not help"""
    job: str = ""
    dark: Circuits = field(default_factory=list)
    """all circuits of its job, where one of them is not on yet: a pod is not bound before"""

    @property
    def is_anywhere(self) -> bool:
        return self.assignment is None and not self.why


@dataclass(frozen=True)
class Asked:
    """Query of kube-scheduler on one pod."""

    pod: Pod
    job: str = ""
    """nothing: the pod takes no accelerators"""
    each: int = 0
    pod_group: PodGroup | None = None
    """None: Kueue's check has planned the job"""
    wrong: str = ""


@dataclass(frozen=True)
class Turned:
    """A pod that was turned away, and when."""

    asked: Asked
    at_s: float


@dataclass
class _Given:
    rank: int
    """first rank of the assignment"""
    at_s: float
    is_seen: bool = False
    """whether the informer has shown its pod"""


class Extender:
    """Seats of gangs; `judge` is called by one thread at a time."""

    def __init__(
        self,
        controller: Controller,
        api: KubernetesClient,
        site: KubernetesSite,
        pods: Informer,
        applied: Applied | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._controller, self._api, self._site, self._pods = controller, api, site, pods
        self._applied, self._clock = applied, clock
        self._assumed = AssumedPods(pods, clock)
        self._given: dict[str, dict[str, _Given]] = {}
        """by job and uid of the pod: assignments given to pods that the informer may not show on their nodes yet"""
        self.light_s = site.config.light_s
        """time that binding waits for circuits"""
        self.turned_away: dict[str, Turned] = {}
        """by uid: pods whose last answer was that they may not go, or not yet"""

    def read(self, item: Object) -> Asked:
        """Read a query; its job is expanded in all its forms, which may take seconds."""
        pod = Pod(item)
        try:
            each = accelerators_of(pod.spec, self._site.config.resources)
            if not each:
                return Asked(pod)
            job = job_of(pod)
            if not job:
                return Asked(pod, each=each, wrong=f"label {GANG} is missing; name the pods that run together by it")
            if not is_gang(job):
                return Asked(pod, job, each)
            pod_group = gang_pod_group(pod, self._site)
            self._controller.prepare(pod_group.request)
            for request in pod_group.even:
                with suppress(InputError):
                    self._controller.prepare(request)
            return Asked(pod, job, each, pod_group)
        except (PodGroupError, InputError) as error:
            return Asked(pod, wrong=str(error))

    def judge(self, asked: Asked) -> PodVerdict:
        """Decide where a pod may go; the first of a gang plans it whole."""
        verdict = self._judged(asked)
        if verdict.why and asked.job:
            self.turned_away[asked.pod.uid] = Turned(asked, self._clock())
        else:
            self.turned_away.pop(asked.pod.uid, None)
        return verdict

    def is_lit(self, verdict: PodVerdict) -> bool:
        """True if circuits that were not on are on by now; does not wait."""
        return not verdict.dark or self._applied is None or self._applied().get(verdict.job) == verdict.dark

    def _judged(self, asked: Asked) -> PodVerdict:
        if asked.wrong:
            return PodVerdict(why=asked.wrong, never=True)
        if not asked.job:
            return PodVerdict()
        if not self._pods.is_known:
            return PodVerdict(why="the planner has not yet seen which pods run; it is asked again")
        try:
            job = self._job(asked)
        except InputError as error:
            return PodVerdict(why=str(error), never=not isinstance(error, UnknownError | ConflictError | FullError))
        if job is None:
            return PodVerdict(why=f"{asked.job} is no job of the planner now; Kueue admits it again")
        if job.place is None:
            return PodVerdict(why="" if job.waits_for is None else job.waits_for.because)
        return self._assigned(asked, job)

    def _job(self, asked: Asked) -> JobState | None:
        try:
            job = self._controller.job(asked.job)
        except InputError:
            job = None
        if asked.pod_group is None:
            return job
        if job is not None and job.request not in asked.pod_group.requests:
            raise InputError(asked.job, "", "another pod of the gang asks for something else; give all the same")
        return placed(self._controller, self._site, asked.pod_group, job)

    def _assigned(self, asked: Asked, job: JobState) -> PodVerdict:
        assert job.place is not None
        pod = asked.pod
        try:
            all_assignments = pod_assignments_of(job.place, asked.each, self._site)
            is_whole = asked.pod_group is not None or pod.annotations.get(ELASTIC) == "true"
            assignments = all_assignments if is_whole else written(pod.annotations.get(ASSIGNMENT, "[]"))
        except (SplitError, ValueError) as error:
            return PodVerdict(why=str(error), never=True)
        if not set(assignments) <= set(all_assignments):
            may_swap = pod.annotations.get(HOT_SWAP) == "true" and not job.place.has_circuits
            after = still_held(assignments, all_assignments)
            after = after or (swapped(assignments, all_assignments) if may_swap else None)
            if after is None:
                return PodVerdict(why="its job has moved since the pod was made; the pod is made anew")
            assignments = all_assignments = after
        taken, shown = dict[str, int](), by_key(all_assignments)
        pods = [*bound(self._pods.objects.values(), self._site.config.resources), *self._assumed.pods()]
        for other in pods:
            if annotated_job(other) == asked.job and VISIBLE in other.annotations and other.uid != pod.uid:
                under = shown.get(assignment_key(other))
                if under is None and self._is_lost(other):
                    continue
                if under is None:
                    return PodVerdict(why=f"{other.name} of the same job still stands where the job was before")
                taken[other.uid] = under.ranks[0]
        assignment = self._choose(asked, assignments, taken)
        if assignment is None:
            return PodVerdict(why=f"all {len(assignments)} pods of its gang have their places", never=True)
        other_pod = in_the_way([assignment], pods, pod.uid)
        if other_pod is not None:
            return PodVerdict(why=f"{other_pod.namespace}/{other_pod.name} still leaves {assignment.node}")
        taken_here = num_taken(assignment.node, pods, self._site.config.resources, pod.uid)
        if taken_here + asked.each > self._site.per_node:
            why = f"pods that others placed are on {assignment.node}: {taken_here} accelerators are taken there"
            return PodVerdict(why=why)
        return PodVerdict(assignment, job=asked.job, dark=dark(job, None if self._applied is None else self._applied()))

    def _is_lost(self, pod: Pod) -> bool:
        """True if a pod that may be replaced is being deleted on a node that has failed, and may never tell that it
        has stopped."""
        may_swap = pod.is_leaving and pod.annotations.get(HOT_SWAP) == "true"
        return may_swap and not {*self._site.parts_of.get(pod.node, ())}.isdisjoint(self._controller.down)

    def _choose(
        self, asked: Asked, assignments: Sequence[PodAssignment], taken: Mapping[str, int]
    ) -> PodAssignment | None:
        """The assignment that the pod was given; else that of its index, else the first that is free."""
        uid = asked.pod.uid
        live = (pod for pod in map(Pod, self._pods.objects.values()) if not pod.is_over)
        shown = {pod.uid for pod in live if not self._is_lost(pod)}
        before = self._given.get(asked.job, {})
        given = {u: g for u, g in before.items() if u == uid or u in shown or self._may_come(g)}
        mine = given.pop(uid, None)
        free = {assignment.ranks[0]: assignment for assignment in assignments}
        ranks = {of: one.rank for of, one in given.items()}
        ranks.update(taken)
        for rank in ranks.values():
            free.pop(rank, None)
        assignment = free.get(mine.rank) if mine is not None else None
        if assignment is None:
            text = asked.pod.annotations.get(INDEX, asked.pod.labels.get(INDEX, ""))
            index = whole_number(text)
            wanted = assignments[index].ranks[0] if index is not None and index < len(assignments) else -1
            assignment = free.get(wanted) or next(iter(free.values()), None)
        if assignment is not None:
            given[uid] = _Given(assignment.ranks[0], self._clock())
        for shown_uid in shown & given.keys():
            given[shown_uid].is_seen = True
        self._given[asked.job] = given
        return assignment

    def _may_come(self, given: _Given) -> bool:
        """True if the informer may yet show a pod that it does not show now."""
        return not given.is_seen and self._clock() < given.at_s + FRESH_S

    def fetch(self, namespace: str, name: str, uid: str) -> Object:
        """A pod that is to be bound; ApiError, also where another has its name by now."""
        item = self._api.get(path_of("v1", "pods", namespace, name))
        if uid and Pod(item).uid != uid:
            raise ApiError(409, f"pod {namespace}/{name} is another one by now")
        return item

    def bind(self, pod: Pod, node: str, verdict: PodVerdict) -> str:
        """Put a pod on its node, once; what is wrong, or nothing."""
        if pod.node == node:
            return ""
        if verdict.why:
            return verdict.why
        if verdict.assignment is not None and verdict.assignment.node != node:
            return f"the pod was planned for {verdict.assignment.node}, not {node}"
        if verdict.dark:
            return "circuits of its job are still being connected; it is tried again"
        annotations = {} if verdict.assignment is None else {JOB: verdict.job, VISIBLE: verdict.assignment.visible}
        about = {"name": pod.name, "namespace": pod.namespace, "uid": pod.uid, "annotations": annotations}
        body = {
            "apiVersion": "v1", "kind": "Binding", "metadata": about,
            "target": {"apiVersion": "v1", "kind": "Node", "name": node},
        }  # fmt: skip
        said, may_stand = "", True
        try:
            self._api.post(path_of("v1", "pods", pod.namespace, pod.name, "binding"), body)
        except ApiError as error:
            said = self._bound_already(pod, node, str(error)) if error.status == 409 else str(error)
            may_stand = not said or error.is_of_all  # nobody knows what became of it
        if annotations and may_stand:
            self._assumed.add(pod, node, annotations)
        return said

    def _bound_already(self, pod: Pod, node: str, said: str) -> str:
        """Nothing where an earlier call has bound the pod to this node, whose answer was lost."""
        try:
            return "" if Pod(self.fetch(pod.namespace, pod.name, pod.uid)).node == node else said
        except ApiError as error:
            return str(error)

"""A model of slurmctld: what its commands do to jobs and nodes, and what jobs do by themselves.

Facts are those of Slurm 22.05: a job whose prolog fails waits again, not held, and not before BeginTime; a requeued job
gives its nodes back before it waits; holds of users, administrators and the planner differ by their reason. Of an array
the untouched tasks are one job, whose number the last of them keeps; the others are split off, held or not as it was.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path

from planner.integrations.slurm import hooks
from planner.integrations.slurm.commands import SlurmDownError, SlurmError
from planner.integrations.slurm.rows import JobRow, NodeRow

GPUS = 4
HOLDING = ("CONFIGURING", "RUNNING", "COMPLETING")
USER = os.getuid()


class CrashError(Exception):
    """The daemon dies here."""


@dataclass
class FakeJob:
    """One job as slurmctld has it."""

    number: int
    asks: str
    fewest: int
    can_requeue: bool
    comment: str = ""
    after: int | None = None
    """job that it depends on"""
    admin_comment: str = ""
    state: str = "PENDING"
    reason: str = "JobHeldUser"
    is_held: bool = True
    is_put_off: bool = False
    restarts: int = 0
    required: tuple[str, ...] = ()
    gpus: int = 0
    nodes: tuple[str, ...] = ()
    then: str = ""
    """what follows COMPLETING"""
    sees: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """indices by node in the run that is on"""
    runs: int = 0
    """runs that began with accelerators"""
    is_foreign: bool = False
    array: int = 0
    task: int | None = None
    tasks: tuple[int, ...] = ()
    """of an array, that are not split off"""
    most_tasks: int = 0
    delays: list[float] = field(default_factory=list)
    """by which the planner has put its start off"""
    is_freed: bool = False
    """whether an administrator has released it, perhaps without a place: then it has no accelerators"""

    @property
    def holds(self) -> bool:
        return self.state in HOLDING


class FakeSlurm:
    """Implements the calls of SlurmClient. `point` is called before and after each: there a process may die."""

    def __init__(self, nodes: int, state: Path, bindings: Path) -> None:
        self.jobs_by_number: dict[int, FakeJob] = {}
        self.down: set[str] = set()
        self.drained: dict[str, str] = {}
        self.names = tuple(f"n{i}" for i in range(nodes))
        self.is_reachable = True
        self.dies_in: int | None = None
        """points until the daemon dies"""
        self.loses_epilogs = False
        self.known_strangers: set[str] = set()
        """nodes on which jobs of others held GPUs when the daemon last looked"""
        self._state, self._bindings = state, bindings

    # What the daemon calls

    def point(self) -> None:
        if self.dies_in is not None:
            self.dies_in -= 1
            if self.dies_in < 0:
                raise CrashError

    @contextmanager
    def _called(self) -> Iterator[None]:
        self.point()
        if not self.is_reachable:
            raise SlurmDownError("Unable to contact slurm controller (connect failure)")
        yield
        self.point()

    def jobs(self) -> dict[int, JobRow]:
        with self._called():
            strangers = [job for job in self.jobs_by_number.values() if job.is_foreign and job.holds]
            self.known_strangers = {node for job in strangers for node in job.nodes}
            return {number: self._row(job) for number, job in self.jobs_by_number.items()}

    def nodes(self) -> dict[str, NodeRow]:
        with self._called():
            return {
                name: NodeRow(name, name in self.down, name in self.drained, self.drained.get(name, ""))
                for name in self.names
            }

    def staying(self) -> nullcontext[None]:
        return nullcontext()

    def place(self, job: int, nodes: list[str], gres: str, comment: str) -> None:
        with self._called():
            row = self._waiting(job)
            assert self.known_strangers.isdisjoint(nodes), (job, nodes)
            row.required, row.gpus, row.admin_comment = tuple(nodes), int(gres.removeprefix("gpu:")), comment
            row.is_put_off = False

    def release(self, job: int) -> None:
        with self._called():
            row = self._waiting(job)
            row.is_held, row.reason = False, "None"

    def split(self, array: int, task: int) -> None:
        with self._called():
            found = [job for job in self.left() if (job.array, job.task) == (array, task)]
            self._hold(found[0] if found else self.split_off(array, task), "JobHeldUser")

    def hold(self, job: int) -> None:
        with self._called():
            self._hold(self._waiting(job), "JobHeldUser")

    def hold_for_admin(self, job: int) -> None:
        with self._called():
            self._hold(self._waiting(job), "JobHeldAdmin")

    def requeue_hold(self, job: int) -> None:
        with self._called():
            self.requeue(job, is_held=True)

    def start_now(self, job: int, comment: str | None = None) -> None:
        with self._called():
            row = self._waiting(job)
            row.is_put_off = False
            row.admin_comment = row.admin_comment if comment is None else comment

    def delay(self, job: int, seconds: float, comment: str) -> None:
        with self._called():
            row = self._waiting(job)
            row.is_put_off, row.admin_comment, row.delays = True, comment, [*row.delays, seconds]

    def end(self, job: int, comment: str) -> None:
        with self._called():
            self._job(job).admin_comment = comment
            self.cancel(job)

    def put_off(self, job: int, comment: str) -> None:
        with self._called():
            row = self._waiting(job)
            row.is_put_off, row.admin_comment = True, comment

    def note(self, job: int, comment: str) -> None:
        with self._called():
            self._job(job).admin_comment = comment

    def drain(self, node: str, reason: str) -> None:
        with self._called():
            self.drained[node] = reason

    def resume(self, node: str) -> None:
        with self._called():
            self.drained.pop(node, None)

    def _job(self, number: int) -> FakeJob:
        job = self.jobs_by_number.get(number)
        if job is None or self._is_over(job):
            raise SlurmError("Invalid job id specified")
        return job

    def _waiting(self, number: int) -> FakeJob:
        job = self._job(number)
        if job.state != "PENDING":
            raise SlurmError("Job is no longer pending execution")
        return job

    def _hold(self, job: FakeJob, reason: str) -> None:
        job.is_held, job.reason = True, reason

    # What users and administrators do

    def submit(self, number: int, gpus: int, nodes: tuple[int, int], **changes: object) -> None:
        """As job_submit.lua leaves a job."""
        asks = f"photonplan:nodes={nodes[0]}-{nodes[1]}:gpus={gpus}:type=any"
        job = FakeJob(number, asks, nodes[0], admin_comment=asks, **{"can_requeue": True, **changes})  # type: ignore[arg-type]
        self.jobs_by_number[number] = job

    def submit_array(self, number: int, gpus: int, nodes: int, tasks: tuple[int, ...], most: int) -> None:
        """As job_submit.lua leaves an array."""
        of = {"tasks": tasks} if len(tasks) > 1 else {"task": tasks[0]}
        self.submit(number, gpus, (nodes, nodes), array=number, most_tasks=most, **of)

    def split_off(self, array: int, task: int) -> FakeJob:
        rest = self._waiting(array)
        if task not in rest.tasks:
            raise SlurmError("Invalid job id specified")
        others = tuple(other for other in rest.tasks if other != task)
        number = max(self.jobs_by_number) + 1
        if len(others) == 1:
            rest.task, rest.tasks = others[0], ()
        else:
            rest.tasks = others
        self.jobs_by_number[number] = replace(rest, number=number, task=task, tasks=(), sees={})
        return self.jobs_by_number[number]

    def stranger(self, number: int, node: str, gpus: int) -> bool:
        """A GPU job that never came to the planner, if Slurm has room for it."""
        if self._taken(node) + gpus > GPUS or node in self.down or node in self.drained:
            return False
        job = FakeJob(number, "", 1, can_requeue=False, state="RUNNING", is_held=False, reason="None")
        job.nodes, job.gpus, job.is_foreign = (node,), gpus, True
        self.jobs_by_number[number] = job
        return True

    def cancel(self, number: int) -> None:
        job = self.jobs_by_number[number]
        if job.state == "PENDING":
            job.state = "CANCELLED"
        elif job.state in ("CONFIGURING", "RUNNING"):
            job.state, job.then = "COMPLETING", "CANCELLED"

    def requeue(self, number: int, *, is_held: bool) -> None:
        job = self._job(number)
        if not job.can_requeue:
            raise SlurmError("Requested operation is presently disabled")
        if job.state in ("CONFIGURING", "RUNNING"):
            job.state, job.then = "COMPLETING", "hold" if is_held else "wait"
        elif job.state == "PENDING" and is_held:
            self._hold(job, "JobHeldUser")

    def fail_node(self, node: str) -> None:
        """A node goes down: its jobs are requeued, or end."""
        self.down.add(node)
        for job in self.jobs_by_number.values():
            if node in job.nodes and job.state in ("CONFIGURING", "RUNNING"):
                job.state, job.then = "COMPLETING", "wait" if job.can_requeue else "NODE_FAIL"

    # What goes on by itself

    def start(self, number: int) -> bool:
        """Slurm starts a job that may start; False where it may not."""
        job = self.jobs_by_number[number]
        after = self.jobs_by_number.get(job.after) if job.after is not None else None
        waits = after is not None and not self._is_over(after)
        if job.state != "PENDING" or job.is_held or job.is_put_off or waits:
            return False
        siblings = [other for other in self.jobs_by_number.values() if job.array and other.array == job.array]
        if job.most_tasks and sum(other.holds for other in siblings) >= job.most_tasks:
            job.reason = "JobArrayTaskLimit"
            return False
        nodes = job.required or self.names[: job.fewest]
        bad = [n for n in nodes if n in self.down or n in self.drained or self._taken(n) + job.gpus > GPUS]
        if bad:
            return False
        if job.tasks:
            job = self.split_off(number, job.tasks[0])
        job.state, job.nodes, job.reason = "CONFIGURING", nodes, "None"
        return True

    def go_on(self, number: int) -> None:
        """The prolog runs, or the job ends, or gives its nodes back."""
        job = self.jobs_by_number[number]
        environment = {"SLURM_JOB_ID": str(number)}
        if job.state == "CONFIGURING":
            if hooks.main(["connect", str(self._state)], environment):
                job.state, job.then = "COMPLETING", "wait"
                return
            job.state, job.sees = "RUNNING", self._bound(job)
            job.runs += bool(job.sees)
        elif job.state == "RUNNING":
            job.state, job.then = "COMPLETING", "COMPLETED"
        elif job.state == "COMPLETING":
            if not self.loses_epilogs:
                hooks.main(["release", str(self._state)], environment)
            job.nodes, job.sees = (), {}
            if job.then in ("hold", "wait"):
                job.state, job.restarts, job.is_put_off = "PENDING", job.restarts + 1, True
                job.is_held, job.reason = job.then == "hold", "JobHeldUser" if job.then == "hold" else "BeginTime"
            else:
                job.state = job.then

    def left(self) -> list[FakeJob]:
        """Jobs that have not ended."""
        return [job for job in self.jobs_by_number.values() if not self._is_over(job)]

    def _bound(self, job: FakeJob) -> dict[str, tuple[int, ...]]:
        """What TaskProlog exports."""
        found = {}
        for node in job.nodes:
            path = self._bindings / f"{job.number}.{node}"
            if path.exists():
                found[node] = tuple(map(int, path.read_text().split(",")))
        return found

    def _taken(self, node: str) -> int:
        return sum(job.gpus for job in self.jobs_by_number.values() if job.holds and node in job.nodes)

    def _is_over(self, job: FakeJob) -> bool:
        return job.state not in ("PENDING", *HOLDING)

    def _row(self, job: FakeJob) -> JobRow:
        after = self.jobs_by_number.get(job.after) if job.after is not None else None
        depends = after is not None and not self._is_over(after)
        reason = "BeginTime" if job.is_put_off and not job.is_held else job.reason
        return JobRow(
            job_id=job.number, state=job.state, reason=reason, is_held=job.is_held, user="alice", user_id=USER,
            account="", comment=job.comment, admin_comment=job.admin_comment, nice=0, time_limit_s=600.0,
            submitted_s=float(job.number), eligible_s=1e12 if job.is_put_off else 0.0, restarts=job.restarts,
            can_requeue=job.can_requeue, dependency=f"afterany:{job.after}(unfulfilled)" if depends else "",
            nodes=",".join(job.nodes), takes_gpus=job.gpus > 0, array_id=job.array, task=job.task,
            tasks=",".join(map(str, job.tasks)), most_tasks=job.most_tasks,
        )  # fmt: skip

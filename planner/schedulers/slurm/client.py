"""What Slurm says as typed rows, and what it is told."""

import json
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from planner.schedulers.slurm.commands import TIMEOUT_S, Commands, SlurmDownError

_WAITING = {"PENDING", "REQUEUE_HOLD", "SPECIAL_EXIT"}
_OVER = {
    "CANCELLED", "COMPLETED", "FAILED", "TIMEOUT", "NODE_FAIL", "PREEMPTED", "BOOT_FAIL", "DEADLINE", "OUT_OF_MEMORY",
    "REVOKED",
}  # fmt: skip
_ASKS = ("tres_per_node", "tres_per_job", "tres_per_socket", "tres_per_task")
_GONE = {"DOWN", "FAIL", "ERROR", "FUTURE", "POWERED_DOWN"}
_LEFT = {"DRAIN", "FAIL", "MAINTENANCE", "REBOOT_REQUESTED", "REBOOT_ISSUED"}


@dataclass(frozen=True)
class JobRow:
    """One job as squeue shows it."""

    job_id: int
    state: str
    reason: str
    is_held: bool
    user: str
    user_id: int
    account: str
    comment: str
    admin_comment: str
    nice: int
    time_limit_s: float | None
    submitted_s: float
    eligible_s: float
    """when it may start, as its user or a requeue has set it; 0: now"""
    restarts: int
    can_requeue: bool
    dependency: str
    nodes: str
    """host list of those that it holds"""
    takes_gpus: bool
    array_id: int = 0
    """of the array that it belongs to; 0: of none"""
    task: int | None = None
    """its number there"""
    tasks: str = ""
    """of an array the numbers of all tasks that are not jobs of their own yet, which it stands for: 0-3,7,10-90:5"""
    most_tasks: int = 0
    """of the array that may run at once; 0: all"""

    @property
    def in_order(self) -> tuple[float, int, int]:
        """Sorts jobs as they were submitted, and tasks of an array by their number."""
        return self.submitted_s, self.array_id or self.job_id, self.task or 0

    @property
    def address(self) -> str:
        """What scontrol takes for it and no other job: the number of an array is also that of one of its tasks."""
        if self.tasks:
            return f"{self.array_id}_[{self.tasks}]"
        return f"{self.array_id}_{self.task}" if self.task is not None else str(self.job_id)

    @property
    def waits(self) -> bool:
        """It holds no node."""
        return self.state in _WAITING

    @property
    def is_over(self) -> bool:
        """It has ended, and every node has been given back."""
        return self.state in _OVER

    @property
    def holds(self) -> bool:
        """It has nodes: it is being started, runs, or gives them back."""
        return not self.waits and not self.is_over

    @property
    def waits_for_jobs(self) -> bool:
        """It depends on jobs that have not ended."""
        return "(" in self.dependency


@dataclass(frozen=True)
class NodeRow:
    """One node as sinfo shows it."""

    name: str
    is_down: bool
    is_drained: bool
    """takes no jobs, those that it has may end there"""
    reason: str


class SlurmClient:
    """What the planner asks and tells one slurmctld."""

    def __init__(self, timeout_s: float = TIMEOUT_S) -> None:
        self._commands = Commands(timeout_s)
        self._addresses: dict[int, str] = {}

    def jobs(self) -> dict[int, JobRow]:
        """Every job that slurmctld has not forgotten."""
        rows = {row.job_id: row for row in map(job_row, self._json("squeue", "--json")["jobs"])}
        self._addresses = {job: row.address for job, row in rows.items()}
        return rows

    def nodes(self) -> dict[str, NodeRow]:
        rows = self._json("sinfo", "--json")["nodes"]
        return {row.name: row for row in map(node_row, rows)}

    def staying(self) -> AbstractContextManager[None]:
        """While this lasts, what Slurm is told goes to one scontrol, texts with spaces excepted."""
        return self._commands.staying()

    def place(self, job: int, nodes: Sequence[str], gres: str, comment: str) -> None:
        """Say where a held job will run, at once when it is released."""
        count = len(nodes)
        where = (f"ReqNodeList={','.join(nodes)}", f"NumNodes={count}-{count}")
        self._update(job, *where, f"Gres={gres}", "StartTime=now", f"AdminComment={comment}")

    def release(self, job: int) -> None:
        self._commands.scontrol("release", self._address(job))

    def split(self, array: int, task: int) -> None:
        """Make a job of one task of a held array: whatever concerns it alone does so, such as holding it."""
        self._commands.scontrol("uhold", f"{array}_{task}")

    def hold(self, job: int) -> None:
        """Hold a waiting job for the planner (JobHeldUser)."""
        self._commands.scontrol("uhold", self._address(job))

    def hold_for_admin(self, job: int) -> None:
        """Hold a waiting job for administrators (JobHeldAdmin): the planner leaves it alone."""
        self._commands.scontrol("hold", self._address(job))

    def requeue_hold(self, job: int) -> None:
        """End a running job; it then waits, held for the planner."""
        self._commands.scontrol("requeuehold", self._address(job))

    def start_now(self, job: int, comment: str | None = None) -> None:
        """A job that was put off need not wait any more."""
        self._update(job, "StartTime=now", *(() if comment is None else (f"AdminComment={comment}",)))

    def put_off(self, job: int, comment: str) -> None:
        """Far in the future, so that a job without a place never starts."""
        self._update(job, "StartTime=now+365days", f"AdminComment={comment}")

    def note(self, job: int, comment: str) -> None:
        self._update(job, f"AdminComment={comment}")

    def drain(self, node: str, reason: str) -> None:
        self._commands.scontrol("update", f"NodeName={node}", "State=DRAIN", f"Reason={reason}")

    def resume(self, node: str) -> None:
        self._commands.scontrol("update", f"NodeName={node}", "State=RESUME")

    def _update(self, job: int, *changes: str) -> None:
        self._commands.scontrol("update", f"JobId={self._address(job)}", *changes)

    def _address(self, job: int) -> str:
        """Of a job as it was last seen."""
        return self._addresses.get(job, str(job))

    def _json(self, *argv: str) -> dict[str, Any]:
        text = self._commands.run(*argv)
        try:
            data: dict[str, Any] = json.loads(text)
        except ValueError as error:
            raise SlurmDownError(f"{argv[0]} printed no JSON: {error}") from None
        if data.get("errors"):
            raise SlurmDownError(f"{argv[0]}: {data['errors']}")
        return data


def job_row(row: dict[str, Any]) -> JobRow:
    """One job of `squeue --json` (Slurm 22.05)."""
    try:
        limit = row["time_limit"]
        tasks = row["array_task_string"].partition("%")[0]
        is_last = tasks.isdigit()  # of its array, which scontrol does not split: it stands for this one task
        return JobRow(
            job_id=row["job_id"],
            state=row["job_state"],
            reason=row["state_reason"],
            is_held=row["priority"] == 0,
            user=row["user_name"],
            user_id=row["user_id"],
            account=row["account"],
            comment=row["comment"],
            admin_comment=row["admin_comment"],
            nice=row["nice"] or 0,
            time_limit_s=None if limit is None else limit * 60.0,
            submitted_s=row["submit_time"],
            eligible_s=row["eligible_time"],
            restarts=row["restart_cnt"],
            can_requeue=row["requeue"] and row["batch_flag"],
            dependency=row["dependency"],
            nodes=row["nodes"],
            takes_gpus=bool(row["gres_detail"]) or any("gpu" in row[ask] for ask in _ASKS),
            array_id=row["array_job_id"],
            task=int(tasks) if is_last else row["array_task_id"],
            tasks="" if is_last else tasks,
            most_tasks=row["array_max_tasks"] or 0,
        )
    except (KeyError, TypeError) as error:
        raise SlurmDownError(f"squeue --json is not that of Slurm 22.05: {error!r}") from None


def node_row(row: dict[str, Any]) -> NodeRow:
    """One node of `sinfo --json` (Slurm 22.05)."""
    try:
        flags = {row["state"].upper(), *(flag.upper() for flag in row["state_flags"])}
        return NodeRow(row["name"], not flags.isdisjoint(_GONE), not flags.isdisjoint(_LEFT), row["reason"])
    except (KeyError, TypeError, AttributeError) as error:
        raise SlurmDownError(f"sinfo --json is not that of Slurm 22.05: {error!r}") from None

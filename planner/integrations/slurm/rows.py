"""One job and one node as the planner looks at them, whichever Slurm has shown them."""

from dataclasses import dataclass

_WAITING = {"PENDING", "REQUEUE_HOLD", "SPECIAL_EXIT"}
_OVER = {
    "CANCELLED", "COMPLETED", "FAILED", "TIMEOUT", "NODE_FAIL", "PREEMPTED", "BOOT_FAIL", "DEADLINE", "OUT_OF_MEMORY",
    "REVOKED",
}  # fmt: skip


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
        """Name of this job and no other to scontrol: the number of an array is also that of one of its tasks."""
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

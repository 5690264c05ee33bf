"""Client of Slurm: its jobs and nodes as typed rows, and commands to it."""

import json
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

from planner.integrations.slurm.commands import TIMEOUT_S, Commands, SlurmDownError
from planner.integrations.slurm.formats import JOBS, Format, format_of, job_row, node_row, rows_of
from planner.integrations.slurm.rows import JobRow, NodeRow


class SlurmClient:
    """Queries and commands to one slurmctld."""

    def __init__(self, timeout_s: float = TIMEOUT_S) -> None:
        self._commands = Commands(timeout_s)
        self._addresses: dict[int, str] = {}
        self._format: Format | None = None
        """of the last document"""

    def jobs(self) -> dict[int, JobRow]:
        """Every job that slurmctld has not forgotten."""
        document = self._json(*JOBS)
        self._format = format_of(document)
        rows = {row.job_id: row for row in map(job_row, rows_of(document, "jobs"))}
        self._addresses = {job: row.address for job, row in rows.items()}
        return rows

    def nodes(self) -> dict[str, NodeRow]:
        if self._format is None:
            self._format = format_of(self._json(*JOBS))
        document = self._json(*self._format.nodes)
        format_of(document)
        return {row.name: row for row in map(node_row, rows_of(document, "nodes"))}

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

    def delay(self, job: int, seconds: float, comment: str) -> None:
        """Not to be started for so long, counted in whole seconds."""
        self._update(
            job, f"StartTime=now+{seconds:.0f}seconds" if seconds else "StartTime=now", f"AdminComment={comment}"
        )

    def end(self, job: int, comment: str) -> None:
        """Cancel a job, with the reason in AdminComment."""
        self.note(job, comment)
        self._commands.run("scancel", self._address(job))

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
            data = json.loads(text)
        except ValueError as error:
            raise SlurmDownError(f"{argv[0]} printed no JSON: {error}") from None
        if not isinstance(data, dict):
            raise SlurmDownError(f"{argv[0]} printed JSON that names nothing: {text[:40]!r}")
        if data.get("errors"):
            raise SlurmDownError(f"{argv[0]}: {data['errors']}")
        return data

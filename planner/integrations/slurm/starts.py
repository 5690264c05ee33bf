"""Failed starts of jobs, whose circuits could not be connected while no part was named.

They are counted in the allocation of the job, so that a crash forgets none; a start is tried again after ever longer
pauses, and after the last try the job is ended, with the reason.
"""

from collections.abc import Iterator
from dataclasses import replace
from math import ceil
from typing import Literal

from planner.integrations.slurm.allocations import Allocation, Report
from planner.integrations.slurm.job_requests import JobDescriptor
from planner.integrations.slurm.observed_state import ObservedState, pause_s
from planner.integrations.slurm.rows import JobRow

Step = Literal["end", "retry", "delay"]
_SLACK_S = 2.0
"""by which Slurm may start a job earlier than it was told: it counts whole seconds"""


def failed(observed: ObservedState, now_s: float) -> dict[int, Allocation]:
    """Allocations of jobs with the failed starts that hooks report now counted in."""
    found = {}
    for job, report in observed.reports.items():
        allocation = observed.allocations.get(job)
        if allocation is not None and report.part is None:
            tries = allocation.tries + 1
            found[job] = replace(allocation, tries=tries, again_s=now_s + pause_s(tries), said=report.said)
    return found


def why(allocation: Allocation, most: int) -> str:
    """For the user; empty where no start has failed."""
    if not allocation.tries:
        return ""
    end = "it was ended" if allocation.tries >= most else f"at most {most} times"
    return f"circuits could not be connected, tried {allocation.tries} times, {end}: {allocation.said}"


def next_step(
    row: JobRow, descriptor: JobDescriptor, allocation: Allocation, most: int, now_s: float
) -> Iterator[tuple[Step, str, float]]:
    """For a job that waits for Slurm in its place: what is done, AdminComment, and seconds from now."""
    text = descriptor.text(at=allocation.digest, why=why(allocation, most))
    if allocation.tries >= most:
        yield "end", text, 0.0
    elif row.restarts and row.reason == "BeginTime" and now_s >= allocation.again_s:
        yield "retry", text, 0.0
    elif allocation.tries and (row.eligible_s < allocation.again_s - _SLACK_S or text != row.admin_comment.strip()):
        yield "delay", text, float(max(0, ceil(allocation.again_s - now_s)))


def troubles(observed: ObservedState, most: int) -> Iterator[str]:
    """Failures of hooks as of now, one line each, for people."""
    for job, allocation in sorted(observed.allocations.items()):
        if allocation.tries:
            yield f"job {job}: {why(allocation, most)}"
    for job, report in sorted(observed.reports.items()):
        if not _is_counted(report):
            yield f"job {job}: circuits could not be {_DONE.get(report.action, report.action)}: {report.said}"


_DONE = {"connect": "connected", "release": "released"}


def _is_counted(report: Report) -> bool:
    return report.action == "connect" and report.part is None

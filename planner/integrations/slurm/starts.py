"""Starts of jobs that failed since circuits could not be put on and no part was named: counted with what the job was
told, so that a death forgets none; tried again ever later; and after the last try the job is ended, with the reason."""

from collections.abc import Iterator
from dataclasses import replace
from math import ceil
from typing import Literal

from planner.integrations.slurm.allocations import Allocation, Report
from planner.integrations.slurm.job_requests import Written
from planner.integrations.slurm.observed_state import ObservedState, pause_s
from planner.integrations.slurm.rows import JobRow

Step = Literal["end", "retry", "delay"]
_SLACK_S = 2.0
"""by which Slurm may start a job earlier than it was told: it counts whole seconds"""


def failed(world: ObservedState, now_s: float) -> dict[int, Allocation]:
    """What jobs were told, with the starts counted that hooks report now."""
    found = {}
    for job, report in world.reports.items():
        told = world.told.get(job)
        if told is not None and report.part is None:
            tries = told.tries + 1
            found[job] = replace(told, tries=tries, again_s=now_s + pause_s(tries), said=report.said)
    return found


def why(told: Allocation, most: int) -> str:
    """For the user; empty where no start has failed."""
    if not told.tries:
        return ""
    end = "it was ended" if told.tries >= most else f"at most {most} times"
    return f"circuits could not be connected, tried {told.tries} times, {end}: {told.said}"


def next_step(
    row: JobRow, asks: Written, told: Allocation, most: int, now_s: float
) -> Iterator[tuple[Step, str, float]]:
    """For a job that waits for Slurm in its place: what is done, AdminComment, and seconds from now."""
    text = asks.text(at=told.digest, why=why(told, most))
    if told.tries >= most:
        yield "end", text, 0.0
    elif row.restarts and row.reason == "BeginTime" and now_s >= told.again_s:
        yield "retry", text, 0.0
    elif told.tries and (row.eligible_s < told.again_s - _SLACK_S or text != row.admin_comment.strip()):
        yield "delay", text, float(max(0, ceil(told.again_s - now_s)))


def troubles(world: ObservedState, most: int) -> Iterator[str]:
    """What hooks could not do, as of now, for people."""
    for job, told in sorted(world.told.items()):
        if told.tries:
            yield f"job {job}: {why(told, most)}"
    for job, report in sorted(world.reports.items()):
        if not _is_counted(report):
            yield f"job {job}: circuits could not be {_DONE.get(report.action, report.action)}: {report.said}"


_DONE = {"connect": "connected", "release": "released"}


def _is_counted(report: Report) -> bool:
    return report.action == "connect" and report.part is None

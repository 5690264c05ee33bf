"""Observed state (Slurm, nodes, switches, locks) and desired state (the controller): all that a tick looks at."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from typing import Generic, TypeVar

from planner.controller.settings import Request
from planner.integrations.hostlist import hosts_of
from planner.integrations.slurm.allocations import Allocation, Report
from planner.integrations.slurm.job_requests import JobDescriptor, descriptor_of
from planner.integrations.slurm.rows import JobRow, NodeRow
from planner.integrations.switch_drivers import Circuits

K = TypeVar("K")
SOONEST_RETRY_S, LATEST_RETRY_S = 1.0, 60.0
OUR_REASON = "photonplan:"
"""how the reason of a node begins that the planner has drained"""


@dataclass(frozen=True)
class ObservedState:
    """Observed state, read in the order of the fields: circuits that are on were so before Slurm was asked for jobs."""

    applied: Mapping[str, Circuits]
    """by job of the driver"""
    reports: Mapping[int, Report]
    jobs: Mapping[int, JobRow]
    nodes: Mapping[str, NodeRow]
    allocations: Mapping[int, Allocation]

    @cached_property
    def ours(self) -> dict[int, JobDescriptor]:
        """Descriptors of the jobs that job_submit.lua has left to the planner, by job."""
        return {job: descriptor for job, row in self.jobs.items() if (descriptor := descriptor_of(row)) is not None}

    @cached_property
    def tasks(self) -> dict[int, list[JobRow]]:
        """Tasks of each array that are jobs of their own and have not ended."""
        found: dict[int, list[JobRow]] = {}
        for row in self.jobs.values():
            if row.task is not None and not row.is_over:
                found.setdefault(row.array_id, []).append(row)
        return found

    def may_run(self, job: int, now_s: float) -> bool:
        """True if a job of ours is held for the planner, and could run now as far as Slurm is concerned."""
        row = self.jobs[job]
        if not (row.waits and row.is_held) or row.reason == "JobHeldAdmin" or self.ours[job].is_put_off:
            return False
        return not row.waits_for_jobs and (row.eligible_s <= now_s or row.restarts > 0)

    def has_ended(self, job: int) -> bool:
        """Nothing of a job is left in Slurm."""
        return job not in self.jobs or self.jobs[job].is_over

    def is_clear(self, job: int) -> bool:
        """A job holds nothing in Slurm, and will not until the planner releases it."""
        return self.has_ended(job) or (self.jobs[job].waits and self.jobs[job].is_held)

    def is_switched(self, name: str) -> bool:
        """Circuits of a job of the driver are as they should be: off where it holds nothing."""
        job = number_of(name)
        return job is None or self.is_clear(job) != (name in self.applied)

    def nodes_of(self, row: JobRow) -> list[str]:
        """Nodes that a job holds, the first of those that Slurm shows in full."""
        allocation = self.allocations.get(row.job_id)
        return list(allocation.nodes) if allocation is not None else hosts_of(row.nodes) if row.nodes else []


@dataclass(frozen=True)
class DesiredState:
    """Desired state: what the controller has decided."""

    requests: Mapping[int, Request]
    """of all jobs that wait or run there"""
    places: Mapping[int, Allocation]
    """of those that run"""
    why: Mapping[int, str]
    """why the others wait"""
    failed: frozenset[str]
    drained: frozenset[str]
    dead: frozenset[str] = frozenset()
    """servers with every accelerator down by itself"""

    def knows(self, job: int) -> bool:
        return job in self.requests


@dataclass(frozen=True)
class Refusal:
    """Why a job cannot run."""

    mark: object
    """what it asked for: once that has changed, it is looked at again"""
    why: str
    until_s: float = inf
    """when it is looked at again in any case"""


def pause_s(tries: int) -> float:
    """Before what has failed so often is tried again: at once the first time, then ever later."""
    return 0.0 if tries == 1 else min(SOONEST_RETRY_S * 2.0 ** min(tries, 32), LATEST_RETRY_S)


class Retries(Generic[K]):
    """Pauses between tries of what failed: none the first time, then ever longer ones."""

    def __init__(self) -> None:
        self._tries: dict[K, int] = {}
        self._at_s: dict[K, float] = {}

    def failed(self, key: K, now_s: float) -> None:
        tries = self._tries[key] = self._tries.get(key, 0) + 1
        self._at_s[key] = now_s + pause_s(tries)

    def is_due(self, key: K, now_s: float) -> bool:
        return self._at_s.get(key, now_s) <= now_s

    def forget(self, is_over: Callable[[K], bool]) -> None:
        for key in [key for key in self._tries if is_over(key)]:
            del self._tries[key], self._at_s[key]


@dataclass
class Memory:
    """Memory that a daemon may lose: without it some things are tried, and logged, once more."""

    refused: dict[int, Refusal] = field(default_factory=dict)
    switchings: Retries[str] = field(default_factory=Retries)
    """by job of the driver"""
    broken: set[str] = field(default_factory=set)
    """parts that hooks or operators, not Slurm, said are broken"""
    served_s: dict[str, float] = field(default_factory=dict)
    """when a job of a tenant was last expanded"""
    notes_from: int = 0
    """job after which reasons are written next"""

    def is_refused(self, job: int, mark: object, now_s: float) -> bool:
        """True if a job that asks for this was refused, and is not looked at again yet."""
        refusal = self.refused.get(job)
        return refusal is not None and refusal.mark == mark and now_s < refusal.until_s


def number_of(name: str) -> int | None:
    """Number of a Slurm job by its name in controller and driver; None for any other."""
    head, _, tail = name.partition("-")
    return int(tail) if head == "slurm" and tail.isdigit() else None

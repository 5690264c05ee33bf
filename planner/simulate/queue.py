"""Jobs that wait: by priority, then by arrival, grouped by kind so that what cannot be placed is looked at once."""

from bisect import insort
from collections import deque
from collections.abc import Mapping
from heapq import heappop, heappush
from itertools import chain, islice
from typing import ClassVar


class Queue:
    """Waiting jobs by number; jobs of one group are of one kind and one priority."""

    is_timed: ClassVar[bool] = False
    """whether the order of the jobs changes as time passes"""

    def __init__(self, group: list[int], priority: list[int], size: list[int]) -> None:
        """`group` and `priority` are by job, `size`, the accelerators that a job takes, by group."""
        self._group, self._priority, self._size = group, priority, size
        self._place = [0] * len(group)
        """place of each job if all waited"""
        for place, job in enumerate(sorted(range(len(group)), key=lambda job: (-priority[job], job))):
            self._place[job] = place
        self._key = self._place.__getitem__ if len(set(priority)) > 1 else None
        """what jobs are sorted by; None where they wait by number"""
        self._waiting: dict[int, deque[int]] = {}
        self._works: dict[int, list[tuple[float, int]]] = {}
        """heap of (work, job) of each group, with jobs that have left"""
        self._inside: set[int] = set()
        self._smallest: int | None = None
        self._head: int | None = None

    def at(self, now_s: float) -> None:
        """Time has gone on to `now_s`."""

    @property
    def length(self) -> int:
        return len(self._inside)

    def push(self, job: int, work_s: float) -> None:
        """A job with so many reference seconds left joins, behind those that arrived before it."""
        group = self._group[job]
        jobs = self._waiting.setdefault(group, deque())
        if not jobs:
            self._smallest = None
        if jobs and jobs[-1] > job:
            insort(jobs, job)
        else:
            jobs.append(job)
        heappush(self._works.setdefault(group, []), (work_s, job))
        self._inside.add(job)
        if self._head is not None and (-self._priority[job], job) < (-self._priority[self._head], self._head):
            self._head = job

    def remove(self, job: int) -> None:
        """A job leaves."""
        group = self._group[job]
        jobs = self._waiting[group]
        if jobs[0] == job:
            jobs.popleft()
        else:
            jobs.remove(job)
        if not jobs:
            del self._waiting[group], self._works[group]
            self._smallest = None
        self._inside.remove(job)
        if job == self._head:
            self._head = None

    def head(self) -> int:
        """The job that goes first."""
        if self._head is None:
            self._head = min((-self._priority[jobs[0]], jobs[0]) for jobs in self._waiting.values())[1]
        return self._head

    def smallest(self) -> int:
        """Accelerators that the smallest waiting job takes."""
        if self._smallest is None:
            self._smallest = min(map(self._size.__getitem__, self._waiting))
        return self._smallest

    def shortest_s(self, group: int) -> float:
        """Least work of the waiting jobs of a group."""
        works = self._works[group]
        while works[0][1] not in self._inside:
            heappop(works)
        return works[0][0]

    def unable(self, free: int, beyond: int, left_s: float, fastest: Mapping[int, float]) -> set[int]:
        """Groups of which no job fits on so many free accelerators, or all are too large to stay on `beyond` of them
        and too long to end within `left_s` at the group's `fastest` rate."""
        return {
            group
            for group in self._waiting
            if (held := self._size[group]) > free
            or (held > beyond and self.shortest_s(group) > left_s * fastest[group])
        }

    def behind(self, head: int, barred: set[int], most: int | None = None) -> list[int]:
        """Jobs behind the head, which goes first, in order, of groups that are not barred; `most`: so many of each
        group at least, all by default."""
        each = None if most is None else most + 1
        first = [islice(jobs, each) for group, jobs in self._waiting.items() if group not in barred]
        order = sorted(chain.from_iterable(first), key=self._key)
        if order and order[0] == head:
            del order[0]
        return order

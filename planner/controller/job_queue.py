"""Waiting jobs, and running ones that wait to grow, in the order in which they are served."""

from bisect import insort
from collections import deque
from collections.abc import Iterator
from heapq import heapify, heappop, heapreplace

from planner.controller.ledger import Entry
from planner.controller.quotas import TenantUsage

Group = tuple[str, int, str]
"""tenant, priority, kind, and when they were stopped: jobs of one group are alike but for their arrival and limit, and
lose patience in that order; who grows is alone in one"""
Rank = tuple[float, ...]
"""the lower goes first"""


def _group_of(entry: Entry) -> Group:
    kind = f"{entry.kind} of {entry.name}" if entry.grows else entry.kind
    kind = kind if entry.stopped_s is None else f"{kind} since {entry.stopped_s}"
    return entry.request.tenant, entry.request.priority, kind


class JobQueue:
    """Waiting jobs by group, each group by arrival.

    First jobs that waited longer than the patience, by arrival; then by priority, use of the tenant over its share, and
    arrival.
    """

    def __init__(self, tenants: TenantUsage) -> None:
        self._tenants = tenants
        self._groups: dict[Group, deque[tuple[int, Entry]]] = {}
        self._inside: dict[str, Group] = {}
        """groups of the jobs, as these joined: times may be read anew from a better clock"""

    def __len__(self) -> int:
        return len(self._inside)

    def __contains__(self, job: str) -> bool:
        return job in self._inside

    def rank(self, entry: Entry, now_s: float) -> Rank:
        """The place of a waiting job in the order: the lower goes first."""
        return self._rank(entry, now_s, self._tenants.burden(entry.request.tenant, now_s))

    def _rank(self, entry: Entry, now_s: float, burden: float) -> Rank:
        if now_s - entry.waits_since_s > self._tenants.settings.patience_s:
            return 0.0, float(entry.number)
        return 1.0, -float(entry.request.priority), burden, float(entry.number)

    def group_of(self, entry: Entry) -> Group:
        """The group of a job that waits."""
        return self._inside[entry.name]

    def push(self, entry: Entry) -> None:
        """A job joins, behind those of its group that arrived before it."""
        group = self._inside[entry.name] = _group_of(entry)
        jobs = self._groups.setdefault(group, deque())
        if jobs and jobs[-1][0] > entry.number:
            insort(jobs, (entry.number, entry), key=lambda item: item[0])
        else:
            jobs.append((entry.number, entry))

    def remove(self, entry: Entry) -> None:
        """A job leaves."""
        group = self._inside.pop(entry.name)
        jobs = self._groups[group]
        if jobs[0][0] == entry.number:
            jobs.popleft()
        else:
            jobs.remove((entry.number, entry))
        if not jobs:
            del self._groups[group]

    def ordered(self, now_s: float, *, passed: set[Group]) -> Iterator[Entry]:
        """Jobs in order; groups that join `passed` meanwhile are left out. The job last given may be removed."""
        tenants = {tenant for tenant, _, _ in self._groups}
        burden = {tenant: self._tenants.burden(tenant, now_s) for tenant in tenants}

        def rank(group: Group, entry: Entry) -> Rank:
            return self._rank(entry, now_s, burden[group[0]])

        heads = [(rank(group, jobs[0][1]), group, 0) for group, jobs in self._groups.items() if group not in passed]
        heapify(heads)
        while heads:
            _, group, place = heads[0]
            jobs = self._groups.get(group)
            if group in passed or jobs is None or place >= len(jobs):
                heappop(heads)
                continue
            entry = jobs[place][1]
            yield entry
            place += entry.name in self._inside
            jobs = self._groups.get(group)
            if jobs is None or place >= len(jobs):
                heappop(heads)
            else:
                heapreplace(heads, (rank(group, jobs[place][1]), group, place))

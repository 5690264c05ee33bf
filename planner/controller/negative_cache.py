"""Negative cache: what was sought without success, and where something was freed since: only there may it fit now."""

from collections.abc import Iterable, Sequence
from math import inf

from planner.fabrics.job_class import JobClass

Mark = tuple[JobClass, str]
"""ways to run that were sought, and how: with others that move, say, or around the ranks OF a job"""
OF = " of "


class NegativeCache:
    """Searches that failed, by racks: servers that one job may use together."""

    def __init__(self, racks: Sequence[Sequence[int]]) -> None:
        self._rack_of = {server: number for number, servers in enumerate(racks) for server in servers}
        self._freed = [0.0] * len(racks)
        """when something was last given back, by rack"""
        self._last_freed = 0.0
        self._failed: dict[Mark, list[float]] = {}
        """when a search failed last, by rack"""
        self._ended: dict[Mark, float] = {}
        """when a search ended, whether it failed or its time was over"""
        self._now = 0.0
        """counts what happens"""

    def __contains__(self, mark: Mark) -> bool:
        """True if a search has ended without success and nothing was given back since."""
        return mark in self._ended and self._ended[mark] > self._last_freed

    def racks_of(self, servers: Iterable[int]) -> list[int]:
        """Racks by number that these servers belong to."""
        return sorted({self._rack_of[server] for server in servers})

    def open(self, mark: Mark) -> list[int]:
        """Racks by number on which a search has not failed since something was given back there."""
        failed = self._failed.get(mark)
        if failed is None:
            return list(range(len(self._freed)))
        return [rack for rack, freed in enumerate(self._freed) if freed >= failed[rack]]

    def fail(self, mark: Mark, racks: Iterable[int]) -> None:
        """A search has failed on these racks."""
        self._now += 1
        failed = self._failed.setdefault(mark, [-inf] * len(self._freed))
        for rack in racks:
            failed[rack] = self._now

    def end(self, mark: Mark) -> None:
        """A search has failed on all racks, or its time is over."""
        self._now += 1
        self._ended[mark] = self._now

    def free(self, servers: Iterable[int]) -> None:
        """Something was given back on these servers."""
        self._now += 1
        for server in servers:
            self._freed[self._rack_of[server]] = self._last_freed = self._now

    def forget(self, tried: str) -> None:
        """Forget these searches: other servers are barred now."""
        for kept in (self._failed, self._ended):
            for mark in [mark for mark in kept if mark[1].partition(OF)[0] == tried]:
                del kept[mark]

    def clear(self) -> None:
        """Anything may succeed again."""
        self._failed.clear()
        self._ended.clear()

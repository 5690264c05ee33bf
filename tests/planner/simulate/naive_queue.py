"""A queue by its definition alone, on servers of accelerators that are all alike: nothing of the planner is used here.

First come, first served, or EASY backfill (Lifka 1995): the first waiting job holds a reservation of accelerators from
the earliest time at which those that run leave it room, and a job behind it starts only where that stays kept.
"""

from bisect import insort
from collections.abc import Sequence
from dataclasses import dataclass, field

Numbers = frozenset[int]


@dataclass
class NaiveQueue:
    """Jobs by number in the order of arrival; each fits in the empty cluster. Accelerator a is one of server
    a // per_server, and a job lies in blocks of per_server, or in one smaller block."""

    arrival_s: Sequence[float]
    duration_s: Sequence[float]
    size: Sequence[int]
    servers: int
    per_server: int
    is_easy: bool
    is_tight: bool
    """whether a block takes the first server with the least room, counted in blocks; else the first with any"""
    start_s: dict[int, float] = field(default_factory=dict)
    _free: Numbers = frozenset()
    _running: list[tuple[float, int, Numbers]] = field(default_factory=list)
    _waiting: list[int] = field(default_factory=list)

    def run(self) -> None:
        """Fill in when each job starts."""
        self._free = frozenset(range(self.servers * self.per_server))
        arriving = list(range(len(self.size)))
        while arriving or self._running:
            now_s = min([self.arrival_s[job] for job in arriving[:1]] + [end_s for end_s, _, _ in self._running[:1]])
            while self._running and self._running[0][0] == now_s:
                self._free |= self._running.pop(0)[2]
            while arriving and self.arrival_s[arriving[0]] == now_s:
                self._waiting.append(arriving.pop(0))
            self._serve(now_s)

    def _serve(self, now_s: float) -> None:
        while self._waiting and self._start(self._waiting[0], now_s, self._free):
            pass
        if self.is_easy and self._waiting:
            from_s, kept = self._reservation(self._waiting[0])
            for job in self._waiting[1:]:
                is_over = now_s + self.duration_s[job] <= from_s
                self._start(job, now_s, self._free if is_over else self._free - kept)

    def _start(self, job: int, now_s: float, allowed: Numbers) -> bool:
        taken = self._place(self.size[job], allowed)
        if taken is not None:
            self._free -= taken
            self._waiting.remove(job)
            self.start_s[job] = now_s
            insort(self._running, (now_s + self.duration_s[job], job, taken))
        return taken is not None

    def _reservation(self, first: int) -> tuple[float, Numbers]:
        """The earliest time with room for the first job, and the accelerators that it is to take then."""
        for from_s, _, _ in self._running:
            left = [held for end_s, _, held in self._running if end_s <= from_s]
            kept = self._place(self.size[first], self._free.union(*left))
            if kept is not None:
                return from_s, kept
        raise AssertionError("each job fits in the empty cluster")

    def _place(self, size: int, allowed: Numbers) -> Numbers | None:
        """Free accelerators for a job, the lowest numbers of each server; None where there are too few."""
        block, taken = min(size, self.per_server), frozenset[int]()
        while len(taken) < size:
            left = [sorted(a for a in allowed - taken if a // self.per_server == s) for s in range(self.servers)]
            able = [slots for slots in left if len(slots) >= block]
            if not able:
                return None
            chosen = min(able, key=lambda slots: len(slots) // block) if self.is_tight else able[0]
            taken |= frozenset(chosen[:block])
        return taken

    def utilization(self, since_s: float, until_s: float) -> float:
        """Mean share of the accelerators that jobs hold between two times."""
        held_s = [
            self.size[job] * max(0.0, min(start_s + self.duration_s[job], until_s) - max(start_s, since_s))
            for job, start_s in self.start_s.items()
        ]
        return sum(held_s) / (self.servers * self.per_server * (until_s - since_s))

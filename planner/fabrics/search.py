"""How, where and how long a place for a job is looked for."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import inf

Blocks = list[tuple[int, int]]
"""(server, number of blocks), ascending"""
Strategy = Callable[[Sequence[int], Sequence[int], int, int], Iterable[Blocks]]
"""(blocks that fit by server, servers that one job may use together, blocks, blocks that one server takes at most) ->
ways to spread the blocks over the servers, the best first; hashable where it gives the same whenever it is asked"""
MAX_FAILED = 30
"""so often a job is routed across servers in vain before only single servers, or other numbers of racks, are tried"""
NOBODY: frozenset[int] = frozenset()


class OutOfTimeError(Exception):
    """A search for a place has run out of its time; nothing was taken."""


def require_time(deadline_s: float) -> None:
    """OutOfTimeError where a time on the clock of time.perf_counter is over."""
    if deadline_s < inf and time.perf_counter() > deadline_s:
        raise OutOfTimeError


@dataclass(frozen=True, slots=True)
class Search:
    """How, where and how long a place is looked for."""

    strategy: Strategy
    is_fixed: bool = True
    """whether the strategy gives the same spreads whenever it is asked"""
    of_loop: bool = False
    """whether only rows of the published loop are looked at"""
    among: Sequence[Sequence[int]] | None = None
    """servers that are looked at together; all of each rack by default"""
    barred: frozenset[int] = NOBODY
    """servers that the job may not take where no strategy chooses servers"""
    deadline_s: float = inf
    """on the clock of time.perf_counter"""

    @property
    def is_repeatable(self) -> bool:
        """Whether it finds the same whenever nothing has changed: no chance and no clock decides."""
        return self.is_fixed and self.deadline_s == inf


def runs(blocks: Iterable[tuple[int, int]]) -> list[int]:
    """Server of each block, all blocks of a server one after the other."""
    return [server for server, count in blocks for _ in range(count)]

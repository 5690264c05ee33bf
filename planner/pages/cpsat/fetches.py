"""Copies back: how far ahead they are asked for, and how long operators wait for them at least."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from sys import maxsize

from ortools.sat.python import cp_model

from planner.pages.cpsat.ticks import Ticks
from planner.pages.cpsat.users import Item
from planner.pages.cpsat.variables import Linear, Literal

MOST_USERS = 4
"""operators that one window of copies spans: longer ones rarely bind"""


@dataclass(frozen=True)
class _User:
    """An operator that may wait for copies."""

    operator: int
    start: Linear
    is_active: Literal
    takes: list[Linear]
    """by link, ticks of what it waits for"""
    most: list[int]


@dataclass
class Fetches:
    """Bounds that hold in whatever order links carry copies: what a stretch of operators needs comes back after
    it may be asked for, one copy after the other."""

    cp: cp_model.CpModel
    ticks: Ticks
    lookahead: int
    past: list[_User] = field(default_factory=list)
    asked: list[Linear] = field(default_factory=list)
    """starts of the last operators that waited, latest first"""
    free: list[Linear] = field(default_factory=list)
    """by link, when everything needed so far is back at the earliest"""
    carried: list[Linear] = field(default_factory=list)
    """by link, ticks of everything needed so far, its way there included"""
    first_left: int = maxsize
    """first operator after which any of it left"""

    def __post_init__(self) -> None:
        self.asked = [0] * self.lookahead
        self.free = [0] * len(self.ticks.task.links)
        self.carried = list(self.free)

    @property
    def asked_at(self) -> Linear:
        """When copies for the next operator are asked for at the earliest."""
        return self.asked[-1]

    def look_ahead(self) -> None:
        """Go on to the next operator."""
        if not self.past:
            return
        last, found = self.past[-1], list[Linear]()
        for newer, older in zip((last.start, *self.asked[:-1]), self.asked, strict=True):
            level = self._time()
            self.cp.add(level >= older)
            self.cp.add(level >= newer).only_enforce_if(last.is_active)
            found.append(level)
        self.asked = found

    def wait(
        self,
        operator: int,
        start: Linear,
        is_active: Literal,
        items: Sequence[Item],
        ends: Mapping[int, Linear],
    ) -> None:
        """Constrain the start of an operator; `ends` of operators after which tensors left."""
        task = self.ticks.task
        for item in items:
            self._carry(item)
            self.first_left = min(self.first_left, task.program.absences[item.absence].after)
        links = range(len(task.links))
        takes = [sum(self.ticks.page[i.absence][link] * i.pages[link] for i in items) for link in links]
        most = [sum(self.ticks.whole(item.absence, link) for item in items) for link in links]
        self.past.append(_User(operator, start, is_active, takes, most))
        begin = 0 if self.first_left == -1 else ends.get(self.first_left)
        for link in links:
            self.cp.add(start >= self.free[link])
            if begin is not None:
                self.cp.add(start >= begin + self.carried[link])
        self._windows()

    def _carry(self, item: Item) -> None:
        ways = 1 + int(self.ticks.task.program.leaves[item.absence])
        for link, pages in enumerate(item.pages):
            takes = self.ticks.page[item.absence][link] * pages
            free, carried = self._time(), self._time()
            self.cp.add(free >= self.free[link] + takes)
            self.cp.add(free >= self.asked_at + takes)
            self.cp.add(carried == self.carried[link] + ways * takes)
            self.free[link], self.carried[link] = free, carried

    def _windows(self) -> None:
        """What the last few operators need is asked for when the one `lookahead` before them starts.

        Where one of those between does not wait, that may be earlier: the constraint gives way by no more than all
        copies take beyond the operators between.
        """
        last = len(self.past) - 1
        for first in range(last, max(last - MOST_USERS, self.lookahead - 1), -1):
            asker = self.past[first - self.lookahead]
            idle = sum(1 - user.is_active for user in self.past[first - self.lookahead : first])
            passed = self.ticks.between(asker.operator, self.past[last].operator)
            for link in range(len(self.ticks.task.links)):
                needed = self.past[first:]
                most = sum(user.most[link] for user in needed) - passed
                if most > 0:
                    takes = sum(user.takes[link] for user in needed)
                    self.cp.add(self.past[last].start >= asker.start + takes - most * idle)

    def _time(self) -> cp_model.IntVar:
        return self.cp.new_int_var(0, self.ticks.horizon, "")

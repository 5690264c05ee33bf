"""Copies away, link by link: when they end at the earliest, and when operators wait for them."""

from dataclasses import dataclass, field

from ortools.sat.python import cp_model

from planner.pages.cpsat.ticks import Ticks
from planner.pages.cpsat.variables import Linear, PageVariables


@dataclass(frozen=True)
class _Left:
    """State after one tensor has been put on its links."""

    operator: int
    absence: int
    ends: list[Linear]
    most_behind: list[int]
    """by link, most ticks for which it is busy beyond the operator's end"""


@dataclass
class Leaves:
    """Tensors that left so far. Copies back are left out, so that ends are bounds.

    With at most m tensors on their way out while operators go on, an operator after a tensor that moves waits for
    the one m before it: a link is busy for the m largest tensors at most. That makes the wait tight as a linear
    constraint: it gives way, by no more than that, only where one of these tensors does not move.
    """

    cp: cp_model.CpModel
    ticks: Ticks
    variables: PageVariables
    most_leaving: int | None
    done: list[_Left] = field(default_factory=list)
    awaited: list[Linear] = field(default_factory=list)
    """lower bounds on the start of the next operator"""

    def leave(self, operator: int, absence: int, clock: Linear) -> None:
        """A tensor leaves when an operator ends, at `clock`."""
        self._wait(operator, absence)
        last = self.done[-1] if self.done else None
        ends, behind = list[Linear](), list[int]()
        passed = self.ticks.between(last.operator + 1, operator + 1) if last else 0
        for link, pages in enumerate(self.variables.pages[absence]):
            takes = self.ticks.page[absence][link] * pages
            end = self.cp.new_int_var(0, self.ticks.horizon, "")
            self.cp.add(end >= clock + takes)
            busy = self.ticks.whole(absence, link)
            if last:
                self.cp.add(end >= last.ends[link] + takes)
                busy += max(0, last.most_behind[link] - passed)
            ends.append(end)
            behind.append(min(busy, self._largest(link, absence)))
        self.done.append(_Left(operator, absence, ends, behind))

    def _largest(self, link: int, absence: int) -> int:
        """Of the tensors that may be on their way out at once."""
        sizes = sorted(self.ticks.whole(a, link) for a in (absence, *(left.absence for left in self.done)))
        return sum(sizes if self.most_leaving is None else sizes[-self.most_leaving :])

    def _wait(self, operator: int, absence: int) -> None:
        most = self.most_leaving
        if most is None or len(self.done) < most:
            return
        held, *after = self.done[-most:]
        movers = [self.variables.moves[a] for a in (*(left.absence for left in after), absence)]
        passed = self.ticks.between(held.operator + 1, operator + 1)
        for end, busy in zip(held.ends, held.most_behind, strict=True):
            self.awaited.append(end - max(0, busy - passed) * sum(1 - moves for moves in movers))

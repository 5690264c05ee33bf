"""Stretches of a step: what its links carry between the starts of two operators takes no longer than that.

Between the starts of operators p and q all that leaves in between has left, but for the last few tensors that may be
on their way out; and all that is needed in between is back, and was asked for in between, but for what the first few
operators that wait need. What may be an exception counts at its largest.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from heapq import nlargest
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from costmodel.dataflow.streams.simulate import Rules
from planner.pages.problem import Task

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
MOST_PLACES, FINE_PLACES = 24, 60
"""operators of one step between whose starts windows are looked at"""


@dataclass(frozen=True)
class Window:
    """From one place to another."""

    first: int
    last: int
    counts_leaving: bool
    """whether what leaves in between has left at the end"""
    most_bytes: float
    """of copies counted between them, if all tensors moved; below it where some may return before"""
    early_bytes: float
    """at most: of copies back counted that may lie before"""
    late_bytes: float
    """at most: of copies away counted that may lie behind"""


@dataclass(frozen=True)
class Waiting:
    """Tensors that an operator waits for, or one on its way out."""

    absences: list[int]
    sure: int | None
    """if it moves, there is such a wait"""


@dataclass(frozen=True)
class Windows:
    """One step, cut at P places."""

    task: Task
    rules: Rules
    are_fine: bool
    """many places, and what may lie outside of windows by what moves"""

    @cached_property
    def places(self) -> Ints:
        """(P,) operators, ascending: -1 is the time zero, the number of operators the end of the step.

        Of those between them all after which a tensor leaves, the next ones, and those that may need one; or some,
        and the last of each phase.
        """
        absences, operators = self.task.program.absences, self.task.program.operators
        phase_ends = [o for o, (one, other) in enumerate(pairwise(operators)) if one.phase != other.phase]
        count = len(operators)
        left = [each.after + more for each in absences if each.is_written for more in (0, 1)]
        needed = [user for users in self._users for user in users]
        known = np.unique(np.clip([0, count, *left, *needed], 0, count))
        most = FINE_PLACES if self.are_fine else MOST_PLACES
        chosen = np.linspace(0, len(known) - 1, min(most, len(known))).astype(np.int64)
        return np.unique([-1, *phase_ends, *known[chosen].tolist()])

    @cached_property
    def operator_s(self) -> Floats:
        """(P - 1,) of operators from each place on, with the collectives that the next operators await."""
        program = self.task.program
        is_awaited = [each.exchange is not None and each.exchange.is_awaited for each in program.operators]
        passed_s = np.concatenate([[0.0], np.cumsum(program.operator_s + program.exchange_s * is_awaited)])
        return np.asarray(np.diff(passed_s[self.places.clip(0)]), np.float64)

    @cached_property
    def remade_in(self) -> Ints:
        """(A,) stretch, from its first place on, in which each tensor would be made again."""
        before = np.array([each.before for each in self.task.program.absences], np.int64)
        return np.searchsorted(self.places, before, side="right") - 1

    @cached_property
    def leaves_in(self) -> Ints:
        """(A,) stretch, from its first place on, after whose operators each tensor leaves; -1 where it does not."""
        after = np.array([each.after for each in self.task.program.absences], np.int64)
        return np.where(self.task.program.leaves, np.searchsorted(self.places, after, side="right") - 1, -1)

    @cached_property
    def may_return_in(self) -> Ints:
        """(A,) first stretch, up to its last place, whose operators may need each tensor; -1: it does not return."""
        return self._stretch_of(min)

    @cached_property
    def returns_in(self) -> Ints:
        """(A,) last stretch likewise: it has returned at its end."""
        return self._stretch_of(max)

    def _stretch_of(self, chosen: Callable[[list[int]], int]) -> Ints:
        stretches = np.searchsorted(self.places, [chosen(users) for users in self._users], side="left") - 1
        return np.where(self.task.program.returns, stretches, -1)

    @cached_property
    def _users(self) -> list[list[int]]:
        """Operators that may need each tensor: its own, and those before which others are made again from it."""
        absences = self.task.program.absences
        found = [[each.before] for each in absences]
        for a in np.flatnonzero(self.task.can_be_remade).tolist():
            for source in self.task.program.remade_from[a]:
                found[source].append(absences[a].before)
        return found

    def __iter__(self) -> Iterator[Window]:
        """All of them."""
        most_leaving, end = self.rules.most_leaving, len(self.places) - 1
        leaving, needed, (left, returned, may_have) = self._leaving_bytes(), self._needed_bytes(), self.carried_bytes()
        for first in range(end):
            last_to_leave, first_needed = list[float](), list[float]()
            for last in range(first + 1, end + 1):
                last_to_leave = nlargest(most_leaving or 0, (*last_to_leave, *leaving[last - 1]))
                first_needed = nlargest(self.rules.lookahead, (*first_needed, *needed[last - 1]))
                counts_leaving = last == end or most_leaving is not None
                yield Window(
                    first,
                    last,
                    counts_leaving,
                    most_bytes=float(returned[last] - may_have[first] + counts_leaving * (left[last] - left[first])),
                    early_bytes=sum(first_needed) if first > 0 else 0.0,
                    late_bytes=sum(last_to_leave) if last < end else 0.0,
                )

    def first_needed(self, place: int) -> list[Waiting]:
        """What operators after a place may need that nobody needs before, by operator."""
        found = list[Waiting]()
        for user in sorted(user for user in self._needed_by if user > self.places[place]):
            if absences := [a for a in self._needed_by[user] if self.may_return_in[a] >= place]:
                sure = [a for a in absences if len(self._users[a]) == 1]
                largest = max(sure, key=lambda a: self.task.program.size_bytes[a], default=None)
                found.append(Waiting(absences, largest))
        return found

    def last_leaving(self, place: int) -> list[Waiting]:
        """What leaves before a place, the last one first."""
        rows = np.flatnonzero((self.leaves_in >= 0) & (self.leaves_in < place))[::-1]
        return [Waiting([a], a) for a in rows.tolist()]

    @cached_property
    def _needed_by(self) -> dict[int, list[int]]:
        """Absences by operator that may need them."""
        found: dict[int, list[int]] = {}
        for a in np.flatnonzero(self.task.program.returns).tolist():
            for user in set(self._users[a]):
                found.setdefault(user, []).append(a)
        return found

    def carried_bytes(self) -> tuple[Floats, Floats, Floats]:
        """(P,) up to each place: of tensors that leave, of those that have returned, of those that may have."""
        sizes, count = self.task.program.size_bytes, len(self.places) - 1
        left, returned, may_have = (
            np.cumsum([0.0, *np.bincount(stretches[stretches >= 0], sizes[stretches >= 0], count)])
            for stretches in self.stretches
        )
        return left, returned, may_have

    @property
    def stretches(self) -> tuple[Ints, Ints, Ints]:
        """Of each tensor, as `carried_bytes` counts it."""
        return self.leaves_in, self.returns_in, self.may_return_in

    def _leaving_bytes(self) -> list[list[float]]:
        """By stretch, of each tensor that leaves."""
        rows = np.flatnonzero(self.task.program.leaves).tolist()
        return self._grouped((self.leaves_in[a], float(self.task.program.size_bytes[a])) for a in rows)

    def _needed_bytes(self) -> list[list[float]]:
        """By stretch, of each operator that may wait for tensors."""
        sizes = self.task.program.size_bytes
        stretches = np.searchsorted(self.places, list(self._needed_by), side="left") - 1
        of_user = [float(sizes[absences].sum()) for absences in self._needed_by.values()]
        return self._grouped(zip(stretches.tolist(), of_user, strict=True))

    def _grouped(self, pairs: Iterable[tuple[int, float]]) -> list[list[float]]:
        found: list[list[float]] = [[] for _ in self.places[1:]]
        for stretch, size in pairs:
            found[stretch].append(size)
        return found

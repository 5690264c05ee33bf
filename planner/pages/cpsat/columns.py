"""Columns of one job in the linear relaxation, and the rows that say where its tensors are."""

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Self

import numpy as np

from planner.formulation.linear import Floats, Ints, Rows
from planner.pages.cpsat.windows import Windows
from planner.pages.problem import Task

MOST_PEAKS = 1000
"""places of one job's step at which the local memory is looked at"""


@dataclass(frozen=True)
class Columns:
    """Numbers of one job's columns: shares of tensors, and times in shares of its longest step."""

    task: Task
    windows: Windows
    longest_s: float
    moved: Ints
    """(A, L)"""
    kept: Ints
    """(A,)"""
    remade: Ints
    """(A,)"""
    start: Ints
    """(P,) of the places of windows; the last is the end of the step"""
    carried: Ints
    """(3, P, L) time of copies up to each place: of tensors that leave, of those that have returned or may have"""
    outside: Ints
    """(2, P, L) time of copies at each place: of tensors on their way out, of those asked for and needed later"""

    @classmethod
    def of(cls, task: Task, windows: Windows, longest_s: float, first: int) -> Self:
        count, places, links = len(task.count), len(windows.places), len(task.links)
        found = list[Ints]()
        for shape in ((count, links), (count,), (count,), (places,), (3, places, links), (2, places, links)):
            found.append(np.arange(first, first + prod(shape)).reshape(shape))
            first += prod(shape)
        return cls(task, windows, longest_s, *found)

    @property
    def end(self) -> int:
        return int(self.start[-1])

    @property
    def following(self) -> int:
        """Number of the next job's first column."""
        return self.end + 1 + self.carried.size + self.outside.size

    def limit(self, box: Floats) -> None:
        """Smallest and largest value of each column."""
        box[self.moved], box[self.kept], box[self.start] = (0, 1), (0, 1), (0, 1)
        box[self.remade, 1] = self.task.can_be_remade
        box[self.start[0]] = 0
        box[self.carried[:, 1:], 1] = box[self.outside, 1] = self.copy_share.sum(axis=0)

    @cached_property
    def copy_share(self) -> Floats:
        """(A, L) of a whole tensor on each link one way, in shares of the longest step."""
        rates = np.array([link.bandwidth_bytes_per_s for link in self.task.links], np.float64)
        return np.asarray(self.task.program.size_bytes[:, None] / rates / self.longest_s, np.float64)

    @cached_property
    def groups(self) -> list[tuple[list[int], Floats]]:
        """Links one by one, and all of them: their numbers, and the share of each in what they carry in a time."""
        rates = np.array([link.bandwidth_bytes_per_s for link in self.task.links], np.float64)
        chosen = [[link] for link in range(len(rates))] + ([list(range(len(rates)))] if len(rates) > 1 else [])
        return [(group, rates[group] / rates[group].sum()) for group in chosen]

    def bytes_per_unit(self, group: list[int]) -> float:
        """That some links carry in the longest step."""
        return sum(self.task.links[link].bandwidth_bytes_per_s for link in group) * self.longest_s

    @cached_property
    def made(self) -> Ints:
        """One absence for each operator that may run again before the same user."""
        makers: dict[tuple[int, int | None], int] = {}
        for a in np.flatnonzero(self.task.can_be_remade).tolist():
            each = self.task.program.absences[a]
            makers.setdefault((each.before, each.remade_by), a)
        return np.array(sorted(makers.values()), np.int64)

    def again(self, chosen: Ints) -> tuple[list[int], list[float]]:
        """Columns of some of `made`, and what they add to the operators' time."""
        shares = self.task.program.remake_s[chosen] / self.longest_s
        return self.remade[chosen].tolist(), (-shares).tolist()

    def place(self, rows: Rows) -> None:
        """Every share is somewhere; at some places what stays must fit."""
        task = self.task
        for a in range(len(task.count)):
            shares = [*self.moved[a].tolist(), self.kept[a], self.remade[a]]
            rows.add(shares, np.ones(len(shares)), 1.0, 1.0)
            for source in task.program.remade_from[a]:
                if task.can_be_remade[a] and task.can_be_remade[source]:
                    rows.add([self.remade[a], self.remade[source]], [1.0, 1.0], 0.0, 1.0)
            if (home := int(task.home[a])) not in (-1, a):
                for here, there in zip(self.moved[a].tolist(), self.moved[home].tolist(), strict=True):
                    rows.add([here, there], [1.0, -1.0], -1.0, 0.0)
        peaks = sorted(task.local_peaks, key=lambda peak: -task.count[peak].sum())
        for peak in peaks[:MOST_PEAKS]:
            rows.add(self.kept[peak], task.count[peak], 0.0, task.local_pages)

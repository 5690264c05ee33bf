"""Pages as numbers: what solver and policies decide, what it must fit into, and how long the steps then take."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import floor

import numpy as np
from numpy.typing import NDArray

from costmodel.dataflow.streams.placement import Link, Placement
from costmodel.dataflow.streams.program import Program
from costmodel.dataflow.streams.simulate import Rules, simulate
from costmodel.dataflow.streams.timeline import Timeline
from planner.model.page_instance import PageInstance
from planner.model.page_plan import JobPages, PagePlan, TensorPages
from planner.model.rank_step import PageCase

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
FULL = 1e-9
"""of a page: rounding of a capacity that is a whole number of them"""


@dataclass(frozen=True)
class Pages:
    """Decisions of one job, for each of its A absences."""

    moved: Ints
    """(A, L) pages behind each link"""
    kept: Ints
    """(A,) pages that stay in local memory"""
    remade: Bools
    """(A,)"""


@dataclass(frozen=True)
class Task:
    """One job: a step, and what limits where its pages may be."""

    name: str
    program: Program
    links: tuple[Link, ...]
    memories: tuple[int, ...]
    """number of the memory that each link leads to"""
    count: Ints
    """(A,) pages of each absent tensor"""
    local_pages: int
    may_remake: bool
    weight: float

    @cached_property
    def can_be_remade(self) -> Bools:
        """(A,)"""
        found: Bools = np.isfinite(self.program.remake_s) & self.program.returns & self.may_remake
        return found

    @cached_property
    def excluded(self) -> tuple[tuple[int, ...], ...]:
        """(A,) absences that are not made again together with each: what it is made from, and what is made from it."""
        found: list[set[int]] = [set(sources) for sources in self.program.remade_from]
        for a, sources in enumerate(self.program.remade_from):
            for source in sources:
                found[source].add(a)
        return tuple(tuple(sorted(each)) for each in found)

    @cached_property
    def home(self) -> Ints:
        """(A,) for an absence of a tensor that the step does not make, its last one: there its pages are at home
        all the time; -1 for all others."""
        absences = self.program.absences
        is_away = {each.tensor for each in absences if each.after < 0}
        last = {each.tensor: a for a, each in enumerate(absences)}
        return np.array([last[each.tensor] if each.tensor in is_away else -1 for each in absences], np.int64)

    def peaks(self, spans: Sequence[tuple[int, int]]) -> list[list[int]]:
        """Sets of spans (first place, last place) that are all there at once, none inside another."""
        found: list[list[int]] = []
        firsts = sorted({first for first, _ in spans})
        for number, place in enumerate(firsts):
            following = firsts[number + 1] if number + 1 < len(firsts) else None
            here = [i for i, (first, last) in enumerate(spans) if first <= place <= last]
            if following is None or any(spans[i][1] < following for i in here):
                found.append(here)
        return found

    @cached_property
    def local_peaks(self) -> list[list[int]]:
        """Absences at one place between operators, whose kept pages share the local memory."""
        return self.peaks([(each.after + 1, each.before) for each in self.program.absences])

    @cached_property
    def is_at_peak(self) -> Floats:
        """(number of local peaks, A) 1 where the absence is part of the peak; products with counts are exact."""
        return self._members(self.local_peaks)

    @cached_property
    def is_away_at_peak(self) -> Floats:
        """(number of peaks elsewhere, A) likewise."""
        return self._members(self.away_peaks)

    def _members(self, peaks: Sequence[Sequence[int]]) -> Floats:
        found = np.zeros((len(peaks), len(self.count)))
        for row, peak in enumerate(peaks):
            found[row, peak] = 1.0
        return found

    @cached_property
    def away_peaks(self) -> list[list[int]]:
        """Absences whose pages elsewhere are there at once: those at home stay, the others as long as they last."""
        absences, whole = self.program.absences, (0, len(self.program.operators))
        rows = [a for a in range(len(absences)) if self.home[a] in (-1, a)]
        spans = [whole if self.home[a] == a else (absences[a].after + 1, absences[a].before) for a in rows]
        return [[rows[i] for i in peak] for peak in self.peaks(spans)]

    def used_pages(self, pages: Pages) -> Ints:
        """(L,) most pages behind each link at any place of the step."""
        at_peaks = self.is_away_at_peak @ pages.moved.astype(np.float64)
        return np.asarray(np.max(at_peaks, axis=0, initial=0), np.int64)

    def is_at_home(self, pages: Pages) -> bool:
        """Whether no tensor with a home has more pages anywhere than there."""
        rows = np.flatnonzero(self.home >= 0)
        return bool((pages.moved[rows] <= pages.moved[self.home[rows]]).all())

    def most_kept(self, pages: Pages) -> int:
        return int((self.is_at_peak @ pages.kept.astype(np.float64)).max(initial=0))


@dataclass(frozen=True)
class PageProblem:
    """All jobs and the memories that they share."""

    name: str
    tasks: tuple[Task, ...]
    memories: tuple[str, ...]
    capacity_pages: tuple[int | None, ...]
    rules: Rules
    page_bytes: float = field(default=1.0)

    @classmethod
    def of(cls, instance: PageInstance) -> "PageProblem":
        return cls.of_case(instance.case)

    @classmethod
    def of_case(cls, case: PageCase) -> "PageProblem":
        names, page_bytes = tuple(case.capacity_bytes), case.page_bytes
        tasks = []
        for job in case.jobs:
            count = np.maximum(np.ceil(job.program.size_bytes / page_bytes - FULL), 1).astype(np.int64)
            leads_to = tuple(names.index(link.name) for link in job.links)
            local_pages = floor(job.local_bytes / page_bytes + FULL)
            task = Task(job.name, job.program, job.links, leads_to, count, local_pages, job.may_remake, job.weight)
            tasks.append(task)
        capacity = tuple(
            None if most_bytes is None else floor(most_bytes / page_bytes + FULL)
            for most_bytes in case.capacity_bytes.values()
        )
        return cls(case.name, tuple(tasks), names, capacity, case.rules, page_bytes)

    def timeline(self, number: int, pages: Pages) -> Timeline:
        """A step of one job, simulated."""
        task = self.tasks[number]
        placement = Placement.from_pages(task.program.size_bytes, pages.moved, pages.kept, pages.remade)
        return simulate(task.program, task.links, placement, self.rules)

    def step_s(self, number: int, pages: Pages) -> float:
        return self.timeline(number, pages).end_s

    def value_s(self, placed: Sequence[Pages]) -> float:
        """What is minimized: time of the steps, weighted."""
        return sum(task.weight * self.step_s(j, placed[j]) for j, task in enumerate(self.tasks))

    def used_pages(self, placed: Sequence[Pages]) -> list[int]:
        """Of each memory."""
        used = [0] * len(self.memories)
        for task, pages in zip(self.tasks, placed, strict=True):
            for memory, count in zip(task.memories, task.used_pages(pages).tolist(), strict=True):
                used[memory] += count
        return used

    def fits(self, placed: Sequence[Pages]) -> bool:
        """Whether memories and local budgets hold what is placed, and tensors with a home are there."""
        rooms = zip(self.used_pages(placed), self.capacity_pages, strict=True)
        keeps = zip(self.tasks, placed, strict=True)
        return all(most is None or used <= most for used, most in rooms) and all(
            task.most_kept(pages) <= task.local_pages and task.is_at_home(pages) for task, pages in keeps
        )

    def plan(self, placed: Sequence[Pages]) -> PagePlan:
        """The decisions by name, with the simulated times."""
        return PagePlan(instance=self.name, jobs=tuple(self._job(j, pages) for j, pages in enumerate(placed)))

    def _job(self, number: int, pages: Pages) -> JobPages:
        task = self.tasks[number]
        names = [self.memories[memory] for memory in task.memories]
        tensors = tuple(
            TensorPages(
                tensor=task.program.graph.tensors[each.tensor].name,
                after=each.after,
                pages={name: count for name, count in zip(names, pages.moved[a].tolist(), strict=True) if count},
                kept=int(pages.kept[a]),
                remade=bool(pages.remade[a]),
            )
            for a, each in enumerate(task.program.absences)
        )
        return JobPages(job=task.name, tensors=tensors, step_s=self.step_s(number, pages))

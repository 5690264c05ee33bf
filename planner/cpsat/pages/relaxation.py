"""A bound in little time: tensors in fractions, and no order of copies but that a stretch of a step has to hold them.

What leaves after an operator and comes back before another is carried both ways between them, so that a step takes no
less than the operators up to the first, these copies, and the operators from the second on. Whatever multipliers the
simplex method ends with prove a bound, since all columns lie in finite boxes: what is left of the objective after the
rows' share is smallest at a corner.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from ortools.linear_solver.python import model_builder

from planner.pages.problem import PageProblem, Pages, Task

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
WHOLE = 1e-6
"""of a page: what counts as none"""
MOST_WINDOWS = 32
"""stretches of one job's step that are looked at"""
MOST_PEAKS = 1000
"""places of one job's step at which the local memory is"""


@dataclass(frozen=True)
class Relaxation:
    """Bound on the weighted time, and shares of the tensors that attain it."""

    bound_s: float
    pages: list[Pages]
    """rounded: they may not fit"""


@dataclass
class _Rows:
    """least <= entries . columns <= most, row by row."""

    columns: list[Ints] = field(default_factory=list)
    entries: list[Floats] = field(default_factory=list)
    limits: list[tuple[float, float]] = field(default_factory=list)

    def add(self, columns: Iterable[int] | Ints, entries: Iterable[float] | Floats, least: float, most: float) -> None:
        self.columns.append(np.asarray(columns, np.int64))
        self.entries.append(np.asarray(entries, np.float64))
        self.limits.append((least, most))


@dataclass(frozen=True)
class _Columns:
    """Numbers of one job's columns; all but `end` are shares of a tensor."""

    moved: Ints
    """(A, L)"""
    kept: Ints
    """(A,)"""
    remade: Ints
    end: int

    @classmethod
    def of(cls, task: Task, first: int) -> "_Columns":
        count, links = len(task.count), len(task.links)
        numbers = np.arange(first, first + count * (links + 2) + 1)
        moved, rest = numbers[: count * links].reshape(count, links), numbers[count * links :]
        return cls(moved, rest[:count], rest[count : 2 * count], int(numbers[-1]))


def relax(problem: PageProblem, longest_s: Sequence[float], time_limit_s: float) -> Relaxation | None:
    """Solve the relaxation; `longest_s` bounds each job's step. None where the time does not suffice."""
    columns, first = list[_Columns](), 0
    for task in problem.tasks:
        columns.append(_Columns.of(task, first))
        first = columns[-1].end + 1
    box, objective = np.tile([0.0, 1.0], (first, 1)), np.zeros(first)
    rows = _Rows()
    for task, own, most_s in zip(problem.tasks, columns, longest_s, strict=True):
        box[own.remade, 1] = task.can_be_remade
        box[own.end, 1] = most_s
        objective[own.end] = task.weight
        _place(rows, task, own)
        _time(rows, task, own)
    _share(rows, problem, columns)
    solved = _solve(rows, box, objective, time_limit_s)
    if solved is None:
        return None
    bound_s, values = solved
    pairs = zip(problem.tasks, columns, strict=True)
    return Relaxation(bound_s, [_pages(task, values, own, problem.capacity_pages) for task, own in pairs])


def _place(rows: _Rows, task: Task, own: _Columns) -> None:
    """Every share is somewhere; at some places what stays must fit."""
    for a in range(len(task.count)):
        shares = [*own.moved[a].tolist(), own.kept[a], own.remade[a]]
        rows.add(shares, np.ones(len(shares)), 1.0, 1.0)
        for source in task.program.remade_from[a]:
            if task.can_be_remade[a] and task.can_be_remade[source]:
                rows.add([own.remade[a], own.remade[source]], [1.0, 1.0], 0.0, 1.0)
        if (home := int(task.home[a])) not in (-1, a):
            for here, there in zip(own.moved[a].tolist(), own.moved[home].tolist(), strict=True):
                rows.add([here, there], [1.0, -1.0], -1.0, 0.0)
    peaks = sorted(task.local_peaks, key=lambda peak: -task.count[peak].sum())
    for peak in peaks[:MOST_PEAKS]:
        rows.add(own.kept[peak], task.count[peak], 0.0, task.local_pages)


def _time(rows: _Rows, task: Task, own: _Columns) -> None:
    """Operators, and windows of copies between two of them."""
    program = task.program
    absences, before_s = program.absences, np.concatenate([[0.0], np.cumsum(program.operator_s)])
    makers: dict[tuple[int, int | None], int] = {}
    for a in np.flatnonzero(task.can_be_remade).tolist():
        makers.setdefault((absences[a].before, absences[a].remade_by), a)
    made = np.array(sorted(makers.values()), np.int64)
    rows.add([own.end, *own.remade[made].tolist()], [1.0, *(-program.remake_s[made]).tolist()], before_s[-1], np.inf)
    after, before = np.array([each.after for each in absences]), np.array([each.before for each in absences])
    places = np.unique(before)
    for until in places[np.linspace(0, len(places) - 1, min(MOST_WINDOWS, len(places))).astype(np.int64)].tolist():
        inside = np.flatnonzero(before <= until)
        since = int(after[inside].min())
        ways = program.leaves[inside].astype(np.int64) + program.returns[inside]
        later = made[before[made] >= until]
        least_s = before_s[since + 1] + before_s[-1] - before_s[until]
        for link, reached in enumerate(task.links):
            copy_s = ways * program.size_bytes[inside] / reached.bandwidth_bytes_per_s
            columns = [own.end, *own.moved[inside, link].tolist(), *own.remade[later].tolist()]
            rows.add(columns, [1.0, *(-copy_s).tolist(), *(-program.remake_s[later]).tolist()], least_s, np.inf)


def _share(rows: _Rows, problem: PageProblem, columns: Sequence[_Columns]) -> None:
    """Memories at the fullest place of each job's step."""
    for memory, capacity in enumerate(problem.capacity_pages):
        if capacity is None:
            continue
        found, sizes = list[int](), list[float]()
        for task, own in zip(problem.tasks, columns, strict=True):
            peak = max(task.away_peaks, key=lambda rows: task.count[rows].sum(), default=[])
            for link, leads_to in enumerate(task.memories):
                if leads_to == memory:
                    found += own.moved[peak, link].tolist()
                    sizes += task.count[peak].tolist()
        rows.add(found, sizes, 0.0, float(capacity))


def _solve(rows: _Rows, box: Floats, objective: Floats, time_limit_s: float) -> tuple[float, Floats] | None:
    lp = model_builder.Model()  # type: ignore[no-untyped-call]
    columns = [lp.new_num_var(low, high, "") for low, high in box.tolist()]
    for row, entries, (least, most) in zip(rows.columns, rows.entries, rows.limits, strict=True):
        terms = [columns[c] for c in row.tolist()]
        lp.add_linear_constraint(model_builder.LinearExpr.weighted_sum(terms, entries.tolist()), least, most)
    lp.minimize(model_builder.LinearExpr.weighted_sum(columns, objective.tolist()))
    solver = model_builder.Solver("glop")
    solver.set_time_limit_in_seconds(max(time_limit_s, 0.01))
    if solver.solve(lp) != model_builder.SolveStatus.OPTIMAL:
        return None
    values = np.asarray(solver.values(lp.get_variables()), np.float64)
    multipliers = np.asarray(solver.dual_values(lp.get_linear_constraints()), np.float64)
    return _proven(rows, box, objective, multipliers), values


def _proven(rows: _Rows, box: Floats, objective: Floats, multipliers: Floats) -> float:
    """What multipliers prove: those that would need a limit that a row lacks count as zero."""
    limits = np.array(rows.limits)
    limit = np.where(multipliers > 0, limits[:, 0], limits[:, 1])
    used = np.where(np.isfinite(limit), multipliers, 0.0)
    share = float(np.sum(np.where(np.isfinite(limit), limit, 0.0) * used))
    row = np.repeat(np.arange(len(used)), [len(each) for each in rows.columns])
    entries = np.concatenate(rows.entries) * used[row]
    left = objective - np.bincount(np.concatenate(rows.columns), entries, len(objective))
    return share + float(np.minimum(left * box[:, 0], left * box[:, 1]).sum())


def _pages(task: Task, values: Floats, own: _Columns, capacity: Sequence[int | None]) -> Pages:
    """Shares as whole pages, rounded so that no more stays; what is mostly made again is so.

    All tensors are divided alike, so that the links work on each at the same time: by bandwidth, or as their sum is
    where a memory may be full.
    """
    remade = (values[own.remade] > 0.5) & task.can_be_remade
    shares = values[own.moved] * task.count[:, None]
    by_link = np.array([link.bandwidth_bytes_per_s for link in task.links])
    if any(capacity[memory] is not None for memory in task.memories):
        by_link = shares.sum(axis=0)
    by_link = by_link / max(by_link.sum(), WHOLE)
    moved = np.ceil(shares.sum(axis=1)[:, None] * by_link - WHOLE).clip(0).astype(np.int64)
    for a in np.flatnonzero(moved.sum(axis=1) > task.count):
        ends = np.minimum(np.cumsum(moved[a]), task.count[a])
        moved[a] = np.diff(ends, prepend=0)
    moved[remade] = 0
    return Pages(moved, np.where(remade, 0, task.count - moved.sum(axis=1)), remade)

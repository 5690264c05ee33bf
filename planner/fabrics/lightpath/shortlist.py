"""Few rows of each job that stand for all where slots matter: fast ones, and ones that need less light."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import compress
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from costmodel.fabrics import GroupPlan, racks_of
from costmodel.fabrics.across_racks import AcrossRacks
from costmodel.parallelism.mappings import first_of_each, grouped
from planner.fabrics.problem import JobOptions, Problem

Floats = NDArray[np.float64]
Ints = NDArray[np.integer[Any]]
LEAST_VALUE = 0.75
"""rows below this share of the value of the best of their size are left out"""
THINNER = 0.8
"""the next row of a size needs at most this share of the light, by one of its measures, of all before"""


@dataclass(frozen=True)
class ShortList:
    """The short list of a problem, found once."""

    problem: Problem

    @classmethod
    def of(cls, problem: Problem) -> "ShortList":
        """Kept by the problem."""
        if cls not in problem.relaxations:
            problem.relaxations[cls] = cls(listed_shortly(problem))
        return cast(ShortList, problem.relaxations[cls])


def listed_shortly(problem: Problem) -> Problem:
    """The problem with the short list of each job alone, and the current rows of residents."""
    lists: dict[object, NDArray[np.int64]] = {}
    for options in problem.options:
        if _question(options) not in lists:
            lists[_question(options)] = shortlist(options)
    taken: dict[tuple[int, object], JobOptions] = {}
    for options in problem.options:
        key = id(options.value), _question(options)
        if key not in taken:
            taken[key] = options.take(lists[_question(options)])
    alike = (taken[id(options.value), _question(options)] for options in problem.options)
    shortly = (
        few.of(options.job, can_stay=options.can_stay) for few, options in zip(alike, problem.options, strict=True)
    )
    return replace(problem, options=tuple(shortly))


def _question(options: JobOptions) -> object:
    """Jobs with equal ones have the same list: weights change no order."""
    job = options.job
    return id(options.shapes), job.utility, job.step_at, options.current


def shortlist(options: JobOptions) -> NDArray[np.int64]:
    """For each size, and number of racks, the fastest row, then each next one that needs clearly less light, or fewer
    links between racks; ascending, shape (K,). Those that are known already are taken as they are."""
    kept = _kept(options) if options.short is None else np.flatnonzero(options.short)
    current = [] if options.current is None else [options.current]
    return np.union1d(kept, np.array(current, np.int64))


def _kept(options: JobOptions) -> Ints:
    rows, groups = _valuable(options)
    return rows[thinner_and_thinner(options.value[rows], _needed(options, rows), groups)]


def thinner_and_thinner(value: Floats, needed: Floats, groups: Ints) -> Ints:
    """Of each group the row of the most value, then of those that clearly need less by some measure than all before
    the one of the most value, and so on; of equal ones that which needs less by the first measure, then the first.

    Rows (R,) of one group, (R,), stand together; `needed` (measures, R).
    """
    left, kept, dearth = np.arange(len(value)), [np.zeros(0, np.int64)], -value
    least = np.full((len(needed), int(groups.max(initial=0)) + 1), np.inf)
    while len(left):
        starts = np.flatnonzero(np.diff(groups, prepend=-1))
        best, of = first_of_each(starts, dearth, needed[0]), groups[starts]
        kept.append(left[best])
        least[:, of] = before = np.minimum(least[:, of], needed[:, best])
        most, length = np.where(before > 0, THINNER * before, -1.0), np.diff(starts, append=len(left))
        is_thinner = np.zeros(len(left), np.bool_)
        for each, limit in zip(needed, most, strict=True):
            is_thinner |= each <= np.repeat(limit, length)
        thinner = np.flatnonzero(is_thinner)
        left, dearth, groups, needed = left[thinner], dearth[thinner], groups[thinner], needed.take(thinner, axis=1)
    return np.concatenate(kept)


def _valuable(options: JobOptions) -> tuple[Ints, Ints]:
    """Rows of enough value beside the best of their size and number of racks, which stand together, and the number of
    both."""
    c = options.candidates
    of, order, starts = grouped([c.num_devices, c.racks])
    best = np.maximum.reduceat(options.value[order], starts) if len(order) else np.zeros(0)
    rows = order[options.value[order] >= LEAST_VALUE * best[of[order]]]
    return rows, of[rows]


def _needed(options: JobOptions, rows: Ints) -> Floats:
    """Light of some rows if their ranks lay in one line, shape (3, rows): wavelengths x boundaries in all, the most
    wavelengths over one boundary, and links between racks."""
    c, numbers = options.candidates, options.candidates.plan[:, rows]
    devices = c.num_devices[rows].astype(np.float64)
    is_used = np.bincount(numbers.ravel(), minlength=len(c.plans)) > 0
    plans, axes = [*compress(c.plans, is_used)], (np.cumsum(is_used) - 1)[numbers]
    ranks = np.array([each.ranks for each in plans], np.float64)
    total, most = _crossings(plans).T
    needed = np.zeros((3, len(rows)))
    needed[2] = c.links[rows]
    tensor, pipeline, _, context, _ = (ranks.take(axis) for axis in axes)
    stages = tensor * pipeline
    strides = np.ones(len(rows)), tensor, stages, tensor, stages * context
    for axis, stride in zip(axes, strides, strict=True):
        if not total.take(axis).any():
            continue
        needed[0] += stride * devices / ranks.take(axis) * total.take(axis)
        np.maximum(needed[1], stride * most.take(axis), out=needed[1])
    return needed


def _crossings(plans: Sequence[GroupPlan]) -> Floats:
    """`_crossing` of each plan, over several racks of all its parts; shape (plans, 2)."""
    inner = [plan.inner if isinstance(plan, AcrossRacks) else plan for plan in plans]
    by_id = {id(plan): plan for plan in inner}
    known = {number: _crossing(plan) for number, plan in by_id.items()}
    found = np.array([known[id(plan)] for plan in inner]).reshape(-1, 2)
    found[:, 0] *= [racks_of(plan) for plan in plans]
    return found


@lru_cache(maxsize=1 << 14)
def _crossing(plan: GroupPlan) -> tuple[float, float]:
    """Wavelengths over the boundaries between neighbours in one line, both directions together, in the widest
    configuration: their sum, and the most over one."""
    widest = 0.0, 0.0
    for circuits in plan.configurations():
        ends = np.zeros(plan.ranks)
        for source, destination, width in circuits:
            ends[min(source, destination)] += width
            ends[max(source, destination)] -= width
        over = np.cumsum(ends)
        widest = max(widest, (float(over.sum()), float(over.max())))
    return widest

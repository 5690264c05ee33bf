"""Few rows of each job that stand for all where slots matter: fast ones, and ones that need less light."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import cast

import numpy as np
from numpy.typing import NDArray

from costmodel.fabrics import GroupPlan, racks_of
from costmodel.fabrics.across_racks import AcrossRacks
from planner.fabrics.problem import JobOptions, Problem

Floats = NDArray[np.float64]
Crossings = dict[GroupPlan, tuple[float, float]]
LEAST_VALUE = 0.75
"""rows below this share of the value of the best of their size are left out"""
THINNER = 0.8
"""the next row of a size needs at most this share of the light, by one of its measures, of all before"""
MOST_RACKS = 1 << 13
"""more than a cluster has"""


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
    known: Crossings = {}
    lists: dict[object, NDArray[np.int64]] = {}
    for options in problem.options:
        if _question(options) not in lists:
            lists[_question(options)] = shortlist(options, known)
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


def shortlist(options: JobOptions, known: Crossings) -> NDArray[np.int64]:
    """For each size, and number of racks, the fastest row, then each next one that needs clearly less light, or fewer
    links between racks; ascending, shape (K,)."""
    c, needed = options.candidates, _needed(options, known)
    devices = c.num_devices.astype(np.int64) * MOST_RACKS + c.racks
    order = np.lexsort((needed[0], -options.value, devices))
    order = order[is_least_yet(needed[:, order], devices[order])]
    kept = set() if options.current is None else {options.current}
    size, best, least = -1, 0.0, np.zeros(len(needed))
    for row in order.tolist():
        if devices[row] != size:
            size, best, least = int(devices[row]), float(options.value[row]), np.full(len(needed), np.inf)
        is_thinner = (needed[:, row] <= THINNER * least) & (least > 0)
        if is_thinner.any() and options.value[row] >= LEAST_VALUE * best:
            kept.add(row)
            least = np.minimum(least, needed[:, row])
    return np.array(sorted(kept), dtype=np.int64)


def is_least_yet(needed: Floats, groups: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether a row is the first of its group, or needs less than all of the group before it by some measure: no other
    one is clearly thinner than those kept. Groups are ascending; shape (C,)."""
    if not len(groups):
        return np.zeros(0, np.bool_)
    is_first = np.concatenate([[True], groups[1:] != groups[:-1]])
    below = np.cumsum(is_first) * (needed.max() + 1.0)
    lowered = needed - below
    least = np.minimum.accumulate(lowered, axis=1)
    return np.asarray(is_first | np.concatenate([[False], (lowered[:, 1:] < least[:, :-1]).any(axis=0)]), np.bool_)


def _needed(options: JobOptions, known: Crossings) -> Floats:
    """Light of each row if its ranks lay in one line, shape (3, C): wavelengths x boundaries in all, the most
    wavelengths over one boundary, and links between racks."""
    c = options.candidates
    devices = c.num_devices.astype(np.float64)
    is_used = np.bincount(c.plan.ravel(), minlength=len(c.plans)) > 0
    plans, axes = [*compress(c.plans, is_used)], (np.cumsum(is_used) - 1)[c.plan]
    ranks = np.array([each.ranks for each in plans], np.float64)
    total, most = _crossings(plans, known).T
    needed = np.zeros((3, len(c)))
    needed[2] = c.links
    tensor, pipeline, _, context, _ = (ranks[axis] for axis in axes)
    stages = tensor * pipeline
    strides = np.ones(len(c)), tensor, stages, tensor, stages * context
    for axis, stride in zip(axes, strides, strict=True):
        needed[0] += stride * devices / ranks[axis] * total[axis]
        needed[1] = np.maximum(needed[1], stride * most[axis])
    return needed


def _crossings(plans: Sequence[GroupPlan], known: Crossings) -> Floats:
    """`_crossing` of each plan, over several racks of all its parts; shape (plans, 2)."""
    inner = [plan.inner if isinstance(plan, AcrossRacks) else plan for plan in plans]
    distinct = {id(plan): plan for plan in inner}
    for plan in distinct.values():
        if plan not in known:
            known[plan] = _crossing(plan)
    by_id = {number: known[plan] for number, plan in distinct.items()}
    found = np.array([by_id[id(plan)] for plan in inner]).reshape(-1, 2)
    found[:, 0] *= [racks_of(plan) for plan in plans]
    return found


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

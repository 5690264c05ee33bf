"""Few rows of each job that stand for all where slots matter: fast ones, and ones that need less light."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from costmodel.fabrics import GroupPlan, links_of, racks_of
from planner.fabrics.problem import JobOptions, Problem

Floats = NDArray[np.float64]
Crossings = dict[GroupPlan, tuple[float, float]]
LEAST_VALUE = 0.75
"""rows below this share of the value of the best of their size are left out"""
THINNER = 0.8
"""the next row of a size needs at most this share of the light, by one of its measures, of all before"""
MOST_RACKS = 1 << 13
"""more than a cluster has"""


def listed_shortly(problem: Problem) -> Problem:
    """The problem with the short list of each job alone, and the current rows of residents."""
    known: Crossings = {}
    lists: dict[object, NDArray[np.int64]] = {}
    for options in problem.options:
        if _question(options) not in lists:
            lists[_question(options)] = _shortlist(options, known)
    taken = tuple(options.take(lists[_question(options)]) for options in problem.options)
    return replace(problem, options=taken)


def _question(options: JobOptions) -> object:
    """Jobs with equal ones have the same list: weights change no order."""
    job = options.job
    return id(options.shapes), job.utility, job.step_at, options.current


def _shortlist(options: JobOptions, known: Crossings) -> NDArray[np.int64]:
    """For each size, and number of racks, the fastest row, then each next one that needs clearly less light, or fewer
    links between racks; ascending, shape (K,)."""
    c, needed = options.candidates, _needed(options, known)
    devices = (
        c.num_devices.astype(np.int64) * MOST_RACKS
        + np.array([racks_of(plan) for plan in c.plans], np.int64)[c.plan[2]]
    )
    kept = set() if options.current is None else {options.current}
    size, best, least = -1, 0.0, np.zeros(len(needed))
    for row in np.lexsort((needed[0], -options.value, devices)).tolist():
        if devices[row] != size:
            size, best, least = int(devices[row]), float(options.value[row]), np.full(len(needed), np.inf)
        is_thinner = (needed[:, row] <= THINNER * least) & (least > 0)
        if is_thinner.any() and options.value[row] >= LEAST_VALUE * best:
            kept.add(row)
            least = np.minimum(least, needed[:, row])
    return np.array(sorted(kept), dtype=np.int64)


def _needed(options: JobOptions, known: Crossings) -> Floats:
    """Light of each row if its ranks lay in one line, shape (3, C): wavelengths x boundaries in all, the most
    wavelengths over one boundary, and links between racks."""
    c = options.candidates
    devices = c.num_devices.astype(np.float64)
    ranks = np.array([plan.ranks for plan in c.plans], dtype=np.float64)
    for plan in c.plans:
        if plan not in known:
            known[plan] = _crossing(plan)
    total, most = np.array([known[plan] for plan in c.plans]).reshape(-1, 2).T
    needed = np.zeros((3, len(c)))
    needed[2] = np.array([links_of(plan) for plan in c.plans])[c.plan[2]]
    tensor, pipeline, _, context, _ = (ranks[axis] for axis in c.plan)
    stages = tensor * pipeline
    strides = np.ones(len(c)), tensor, stages, tensor, stages * context
    for axis, stride in zip(c.plan, strides, strict=True):
        needed[0] += stride * devices / ranks[axis] * total[axis]
        needed[1] = np.maximum(needed[1], stride * most[axis])
    return needed


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

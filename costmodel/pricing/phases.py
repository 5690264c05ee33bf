"""Candidates whose first phase has a setting of its own: another split of the I/O, or other collectives."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from costmodel.fabrics import FabricBase
from costmodel.hardware.device import Device
from costmodel.parallelism.mappings import CHOICES, Floats, distinct_rows
from costmodel.pricing.candidates import Candidates, Ints
from costmodel.pricing.phase_switches import memory_of_units, phase_switches, units_of
from costmodel.pricing.score import Scores, joined, score, score_whole_and_by_phase

NONE = -1
"""no row"""
MARGIN = 1e-9
"""relative; a gain below it is rounding"""


def with_phases(candidates: Candidates, device: Device, fabric: FabricBase) -> tuple[Candidates, Scores]:
    """The rows, and after them those that change between phases, where workload and fabric have them; all priced.

    Rows with one setting take requests in as the workload says, those with two go in rounds of all users. For every
    mapping and block, and every two splits whose I/Os differ in what they serve (or one twice): the fastest
    plans of the first phase under the one, and of the last phase under the other. Of these all that are faster, with
    their switches, than any row with one setting under the split with more memory, in rounds or not.
    """
    if fabric.resetting_s is None or not candidates.workload.phases or not len(candidates):
        return candidates, score(candidates, device, fabric)
    single, first, last = score_whole_and_by_phase(candidates, device, fabric)
    group = _groups(candidates)
    a, b = _pairs(_fastest(group, candidates, first.step_s), _fastest(group, candidates, last.step_s), candidates)
    a, b = _with_room(candidates, a, b, first, last)
    phased = _paired(candidates, a, b)
    held_bytes = last.footprint_bytes[b], last.tier_footprint_bytes[b]
    step_s = first.step_s[a] + last.step_s[b] + phase_switches(phased, *held_bytes, fabric).step_s
    units = units_of(candidates)
    richer = np.where(units[candidates.split[a]] > units[candidates.split[b]], candidates.split[a], candidates.split[b])
    alone_s = np.minimum(single.step_s, first.step_s + last.step_s)
    rival = _fastest(group, candidates, alone_s)[group[b], richer]
    pays = np.flatnonzero((rival == NONE) | (step_s < alone_s[rival] * (1 - MARGIN)))
    every = np.arange(len(candidates))
    rows = _paired(candidates, np.concatenate([every, a[pays]]), np.concatenate([every, b[pays]]))
    both = joined(first.take(a[pays]), last.take(b[pays]), phased.take(pays), device, fabric)
    return rows, Scores.concatenate([single, both])


def _with_room(candidates: Candidates, a: Ints, b: Ints, first: Scores, last: Scores) -> tuple[Ints, Ints]:
    """Pairs of which the units of either phase hold what is there in any of them; none has units in one phase alone."""
    units, (room_bytes, is_tier) = units_of(candidates), memory_of_units(candidates)
    here, there = candidates.split[a], candidates.split[b]
    held = [
        np.where(is_tier[here], scores.tier_footprint_bytes[rows], scores.footprint_bytes[rows])
        for scores, rows in ((first, a), (last, b))
    ]
    fits = np.maximum(*held) <= np.minimum(room_bytes[here], room_bytes[there])
    fits &= (units[here] > 0) == (units[there] > 0)
    return a[fits], b[fits]


def _paired(candidates: Candidates, first: Ints, last: Ints) -> Candidates:
    """Rows `last`, with the settings of rows `first` in the first phase."""
    return replace(candidates.take(last), first_plan=candidates.plan[:, first], first_split=candidates.split[first])


def _groups(candidates: Candidates) -> Ints:
    """Number of the job, mapping, block, racks and links between these of each row, shape (C,)."""
    columns = [getattr(candidates.mappings, name)[candidates.mapping] for name in ("job", *CHOICES)]
    columns += [candidates.block, candidates.racks, candidates.links]
    return distinct_rows([each for each in columns if each.min() != each.max()] or columns[:1])[1]


def _fastest(group: Ints, candidates: Candidates, time_s: Floats) -> NDArray[np.int64]:
    """Row of the least time of each group under each split, shape (groups, splits); NONE where there is none."""
    fastest = np.full((int(group.max()) + 1, len(candidates.splits)), NONE, np.int64)
    slowest_first = np.argsort(-time_s, kind="stable")
    fastest[group[slowest_first], candidates.split[slowest_first]] = slowest_first
    return fastest


def _pairs(first: Ints, last: Ints, candidates: Candidates) -> tuple[Ints, Ints]:
    """Rows of both phases that differ, and whose splits are the same or differ in their I/Os."""
    io = np.array([split.memory_io for split in candidates.splits])
    changes = (io[:, None] != io[None, :]) | np.eye(len(io), dtype=np.bool_)
    a, b = (np.broadcast_to(table, (len(first), *changes.shape)) for table in (first[:, :, None], last[:, None, :]))
    some = (a != NONE) & (b != NONE) & (a != b) & changes
    return a[some], b[some]

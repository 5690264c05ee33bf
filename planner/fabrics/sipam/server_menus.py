"""What jobs may take of one server, or of each of several of one rack, and what that is worth beyond its price."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from costmodel.parallelism.mappings import distinct_rows
from planner.candidates.lagrangian_bounds import LagrangianMultipliers
from planner.fabrics.problem import JobOptions, Problem
from planner.fabrics.sipam.demand import asked_across_of_each, held_of_rank

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
MOST_ITEMS, MOST_SPREADS = 16, 6
"""ways of each kind that are kept, those that lose least"""
REQUIRED, SLACK = 1e6, 1e-9
"""gain of a job that must run, and by how much values differ that are not called equal"""


class MenuItem(NamedTuple):
    """A row in one server."""

    row: int
    ranks: int
    units: int
    value: float
    loss: float
    """value less price of the job's best row, less that of this one"""


class ServerSpread(NamedTuple):
    """A row over several servers, block by block."""

    row: int
    blocks: int
    ranks: int
    """of a block, as the next one"""
    units: int
    uplinks: int
    """of each rail that leaves a server"""
    value: float
    loss: float


class Menu(NamedTuple):
    """Ways to run one job."""

    items: tuple[MenuItem, ...]
    spreads: tuple[ServerSpread, ...]
    worth: float
    """of its best row less the price of what that takes; 0 where waiting is as good"""
    price: float
    """of what its best row takes"""
    is_required: bool


def menus_of(problem: Problem, prices: LagrangianMultipliers, room: tuple[int, int]) -> list[Menu]:
    """Menu of each job, one for all that are alike; `room`: most accelerators and memory units of a server."""
    kinds: dict[object, int] = {}
    some, of = list[tuple[JobOptions, Floats]](), list[int]()
    for options, reduced in zip(problem.options, prices.reduced, strict=True):
        key = id(options.candidates), options.value.tobytes(), options.must_run, options.can_stay
        of.append(kinds.setdefault(key, len(kinds)))
        if len(kinds) > len(some):
            some.append((options, reduced))
    spread = _spread_rows(some, room)
    asked = asked_across_of_each(
        [options.candidates.take(rows) for (options, _), rows in zip(some, spread, strict=True)]
    )
    menus = [
        _menu(*each, room, rows, uplinks.tolist()) for each, rows, (_, uplinks) in zip(some, spread, asked, strict=True)
    ]
    return [menus[kind] for kind in of]


def _menu(options: JobOptions, reduced: Floats, room: tuple[int, int], spread: Ints, uplinks: Sequence[int]) -> Menu:
    """`spread`: rows over several servers, which reserve so many uplinks."""
    if options.can_stay or not len(options):
        return Menu((), (), 0.0, 0.0, is_required=False)
    best = int(np.argmax(reduced))
    worth = max(float(reduced[best]), 0.0)
    loss = worth - reduced
    return Menu(
        _items(options, loss, room),
        _spreads(options, loss, spread, uplinks),
        worth,
        float(options.value[best] - reduced[best]),
        options.must_run,
    )


def _items(options: JobOptions, loss: Floats, room: tuple[int, int]) -> tuple[MenuItem, ...]:
    """Of rows in one server those that take less, or are worth more, than each other one."""
    ranks = options.candidates.num_devices.astype(np.int64)
    units = ranks * held_of_rank(options.candidates)[0]
    rows = np.flatnonzero((ranks <= room[0]) & (units <= room[1]) & (options.candidates.racks == 1))
    order = rows[np.lexsort((units[rows], ranks[rows], -options.value[rows]))]
    first = distinct_rows([ranks[order], units[order]])[0] if len(order) else order
    kept: list[MenuItem] = []
    for row in order[np.sort(first)].tolist():
        item = MenuItem(row, int(ranks[row]), int(units[row]), float(options.value[row]), float(loss[row]))
        if not any(other.ranks <= item.ranks and other.units <= item.units for other in kept):
            kept.append(item)
    return tuple(sorted(kept, key=lambda item: item.loss)[:MOST_ITEMS])


def _spread_rows(jobs: Sequence[tuple[JobOptions, Floats]], room: tuple[int, int]) -> list[Ints]:
    """Of rows of several blocks of each job those that lose least, one for each size, block and number of units."""
    found = []
    for options, reduced in jobs:
        c = options.candidates
        block = c.block.astype(np.int64)
        of_block = block * held_of_rank(c)[0]
        rows = np.flatnonzero((block < c.num_devices) & (block <= room[0]) & (of_block <= room[1]) & (c.racks == 1))
        rows = rows[np.argsort(-reduced[rows], kind="stable")][: MOST_SPREADS * MOST_SPREADS]
        first = distinct_rows([c.num_devices[rows], block[rows], of_block[rows]])[0] if len(rows) else rows
        found.append(rows[np.sort(first)[:MOST_SPREADS]])
    return found


def _spreads(options: JobOptions, loss: Floats, rows: Ints, uplinks: Sequence[int]) -> tuple[ServerSpread, ...]:
    """Rows over several servers, which reserve so many uplinks."""
    found, units = [], held_of_rank(options.candidates.take(rows))[0].tolist()
    for row, of_rank, each in zip(rows.tolist(), units, uplinks, strict=True):
        block = int(options.candidates.block[row])
        shape = int(options.candidates.num_devices[row] // block), block, block * of_rank
        found.append(ServerSpread(row, *shape, each, float(options.value[row]), float(loss[row])))
    return tuple(found)

"""What jobs may take of one server, or of each of several of one rack, and what that is worth beyond its price."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from costmodel.parallelism.mappings import distinct_rows
from planner.candidates.lagrangian_bounds import LagrangianMultipliers
from planner.fabrics.problem import JobOptions, Problem
from planner.fabrics.sipam.demand import asked_across, held_of_rank

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
MOST_ITEMS, MOST_SPREADS = 16, 6
"""ways of each kind that are kept, those that lose least"""


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
    known: dict[object, Menu] = {}
    found = []
    for options, reduced in zip(problem.options, prices.reduced, strict=True):
        key = id(options.candidates), options.value.tobytes(), options.must_run, options.can_stay
        if key not in known:
            known[key] = _menu(options, reduced, room)
        found.append(known[key])
    return found


def _menu(options: JobOptions, reduced: Floats, room: tuple[int, int]) -> Menu:
    if options.can_stay or not len(options):
        return Menu((), (), 0.0, 0.0, is_required=False)
    best = int(np.argmax(reduced))
    worth = max(float(reduced[best]), 0.0)
    loss = worth - reduced
    return Menu(
        _items(options, loss, room),
        _spreads(options, loss, room),
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


def _spreads(options: JobOptions, loss: Floats, room: tuple[int, int]) -> tuple[ServerSpread, ...]:
    """Of rows of several blocks those that lose least, one for each size, block and number of units."""
    block = options.candidates.block.astype(np.int64)
    of_block = block * held_of_rank(options.candidates)[0]
    fits = (block <= room[0]) & (of_block <= room[1]) & (options.candidates.racks == 1)
    rows = np.flatnonzero((block < options.candidates.num_devices) & fits)
    rows = rows[np.argsort(loss[rows], kind="stable")][: MOST_SPREADS * MOST_SPREADS]
    ranks = options.candidates.num_devices[rows].astype(np.int64)
    first = distinct_rows([ranks, block[rows], of_block[rows]])[0] if len(rows) else rows
    rows = rows[np.sort(first)[:MOST_SPREADS]]
    uplinks = asked_across(options.candidates.take(rows))[1].tolist()
    found = []
    for row, each in zip(rows.tolist(), uplinks, strict=True):
        shape = int(options.candidates.num_devices[row] // block[row]), int(block[row]), int(of_block[row])
        found.append(ServerSpread(row, *shape, each, float(options.value[row]), float(loss[row])))
    return tuple(found)

"""A plan from jobs packed by counts: rails, ports and units of each server by first fit, exactly where that fails."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from planner.candidates.lagrangian_bounds import LagrangianMultipliers, pool_prices
from planner.fabrics.pattern import Choice
from planner.fabrics.problem import Problem
from planner.fabrics.sipam.free_pool import FreePool
from planner.fabrics.sipam.free_state import PoolFreeState
from planner.fabrics.sipam.packing import Packing
from planner.fabrics.sipam.server_layout import ServerLayout
from planner.fabrics.sipam.server_menus import Menu, menus_of
from planner.fabrics.sipam.step2 import realize_server
from planner.formulation.step_two import StepTwoLimits
from planner.model.clock import Clock
from planner.model.collector import resting_collector
from planner.model.plan import Assignment

ORDERS = 5
"""in which first fit tries the jobs of a server"""
WIRE = StepTwoLimits(1.0, 1.0, 1, 0)
"""of the exact search in one server"""
SHARE = 0.7
"""of the time left, for packings"""
FIRST, GOOD, AGAIN, PATIENCE = 6, 0.009, 3, 40
"""moves for each server before the first plan, unless it is so near to the bound before; times as many before each of
the next ones; and moves for each server without a better packing before the last one"""
LEAST_S, JOB_S = 0.3, 0.0015
"""that jobs of a packing are given to find their parts, however little time is left, and more for each of them"""
MOVES_S = 0.1
"""that moves are given, however little time is left: the first few of them gain the most"""
NEAR = 1e-5
"""of the bound, below which no more moves are made"""


def packed(problem: Problem, seed: int, clock: Clock, most_moves: int) -> Iterator[list[Assignment]]:
    """Packings realised, some after ever more moves unless time is over, and the best of all by a share of the time
    left; none in which a job that must run has no place."""
    if not problem.num_candidates:
        return
    of_jobs_s = JOB_S * len(problem.options)
    kept_s = min(LEAST_S + of_jobs_s, max(SHARE * clock.left_s, LEAST_S / 2 + of_jobs_s))
    whole, clock = clock, clock.within(min(SHARE * clock.left_s, max(clock.left_s - kept_s, 0.0)))
    with resting_collector():
        prices, free = pool_prices(problem), PoolFreeState(problem.cluster)
        staying = [options.staying() for options in problem.options if options.can_stay]
        for assignment in staying:
            free.take_named(assignment)
        search = Packing(_empty(problem, free, prices), free.together, random.Random(seed))
    enough = (1 - NEAR) * prices.bound - sum(assignment.value for assignment in staying)
    good = enough - (GOOD - NEAR) * prices.bound
    moments = _Moments(float("inf"), float("inf")) if clock.is_over else _Moments(FIRST * len(free.lit), good)
    moves = since = 0
    clock = clock.lasting(MOVES_S)
    while moves < most_moves and since < PATIENCE * len(free.lit) and not clock.is_over:
        if search.best.value >= enough:
            break
        if (not moments.last or clock.has(kept_s)) and moments.has_come(moves, search.best.value):
            until = whole.lasting(kept_s)
            if (found := _realized(problem, search.best, free.copy(), staying, until)) is not None:
                yield found
        moves, since = moves + 1, 0 if search.move() else since + 1
    until = whole.lasting(kept_s)
    if (found := _realized(problem, search.best, free, staying, until, exactly=whole)) is not None:
        yield found


@dataclass
class _Moments:
    """When the best packing so far is worth realising."""

    due: float
    """moves"""
    good: float
    """value with which the first plan is not kept waiting"""
    last: float = 0.0
    """value of the packing realised before"""

    def has_come(self, moves: int, value: float) -> bool:
        """After so many moves, the best packing being worth so much; the next moment is later then."""
        is_due = moves >= self.due or (not self.last and value >= self.good)
        if not is_due or value <= self.last:
            return False
        self.last, self.due = value, AGAIN * max(self.due, moves)
        return True


def _empty(problem: Problem, free: PoolFreeState, prices: LagrangianMultipliers) -> ServerLayout:
    """All jobs wait beside those that stay."""
    racks = free.pool.racks
    room = [(devices, rack.num_units) for devices, rack in zip(free.lit, racks, strict=True)]
    most = max(devices for devices, _ in room), max(units for _, units in room)
    all_units = sum(rack.num_units for rack in FreePool(problem.cluster).racks)
    of_each = (
        float(prices.prices[0]) / max(problem.cluster.num_healthy, 1),
        float(prices.prices[1]) / max(all_units, 1),
    )
    uplinks = [min((len(free) for free in rack.uplinks.values()), default=0) for rack in racks]
    return ServerLayout.empty(menus_of(problem, prices, most), room, uplinks, of_each)


@resting_collector()
def _realized(
    problem: Problem,
    layout: ServerLayout,
    free: PoolFreeState,
    staying: list[Assignment],
    clock: Clock,
    *,
    exactly: Clock | None = None,
) -> list[Assignment] | None:
    """Assignments of all jobs of a layout that find their rails, ports and units, or what they need for another way of
    theirs; when the clock is over, of those that must run. `exactly`: until when servers in which first fit fails are
    searched exactly, after all others."""
    found = [*staying]
    for j, (spread, over) in sorted(layout.over.items(), key=lambda each: -each[1][0].ranks * each[1][0].blocks):
        if problem.options[j].must_run or not clock.is_over:
            assignment = free.assign(problem.options[j], spread.row, over)
            found += [] if assignment is None else [assignment]
    tight = dict[int, dict[int, Choice]]()
    for server, jobs in enumerate(layout.inside):
        some = {j: item for j, item in jobs.items() if problem.options[j].must_run} if clock.is_over else jobs
        pattern = {j: _choice(problem, j, layout.menus[j].items[item].row, server) for j, item in some.items()}
        placed, order = _in_some_order(problem, pattern, free)
        found += placed
        if len(placed) < len(order):
            tight[server] = {j: pattern[j] for j in order}
    for server, pattern in tight.items():
        is_searched = exactly is not None and not exactly.is_over
        exact = realize_server(problem, pattern, free, server, WIRE) if is_searched else None
        placed = exact or _by_first_fit(problem, pattern, free, list(pattern))[0]
        names = {assignment.job for assignment in placed}
        left = [j for j in pattern if problem.options[j].job.name not in names]
        found += [*placed, *_otherwise(problem, {j: layout.menus[j] for j in left}, free, server)]
    names = {assignment.job for assignment in found}
    return None if any(o.must_run and o.job.name not in names for o in problem.options) else found


def _choice(problem: Problem, j: int, row: int, server: int) -> Choice:
    return Choice(row, False, ((server, problem.options[j].shapes[row].num_blocks),))


def _in_some_order(
    problem: Problem, pattern: Mapping[int, Choice], free: PoolFreeState
) -> tuple[list[Assignment], list[int]]:
    """All jobs of one server by first fit in some order, taken, and the order; none of them, and the last order, where
    no order that is tried places all. Jobs with the fewest circuits to memory come first: they can choose among the
    fewest rails."""
    demands = {j: problem.options[j].shapes[choice.row] for j, choice in pattern.items()}
    order = sorted(pattern, key=lambda j: free.difficulty(demands[j], pattern[j].blocks))
    for _ in range(ORDERS):
        found, failed = _by_first_fit(problem, pattern, free, order)
        if not failed:
            return found, order
        for assignment in found:
            free.release_named(assignment)
        order = [*failed, *(j for j in order if j not in failed)]
    return [], order


def _otherwise(problem: Problem, menus: Mapping[int, Menu], free: PoolFreeState, server: int) -> Iterator[Assignment]:
    """Jobs that found no place, each in its most valuable way that finds one in the same server."""
    for j, menu in menus.items():
        ways = (_choice(problem, j, item.row, server) for item in sorted(menu.items, key=lambda item: -item.value))
        tried = (free.assign(problem.options[j], way.row, way.blocks) for way in ways)
        yield from islice((found for found in tried if found is not None), 1)


def _by_first_fit(
    problem: Problem, pattern: Mapping[int, Choice], free: PoolFreeState, order: Sequence[int]
) -> tuple[list[Assignment], list[int]]:
    """Jobs taken one after the other, and those that find no place."""
    tried = {j: free.assign(problem.options[j], pattern[j].row, pattern[j].blocks) for j in order}
    return [found for found in tried.values() if found is not None], [j for j in order if tried[j] is None]

"""Value by fillings of servers: which blocks lie together, not where, so that servers that are alike are one.

At the prices of blocks a plan of at least some value leaves little of what servers are worth: the fillings that it may
use are listed, and CP-SAT chooses among them and the rows that are left.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from ortools.sat.python import cp_model

from planner.candidates.knapsack_bounds import SLACK, KnapsackBounds
from planner.fabrics.divided_ports.block_prices import BlockPrices
from planner.fabrics.divided_ports.server_blocks import Room, servers_by_room
from planner.fabrics.pattern import Choice, Pattern
from planner.fabrics.problem import Problem
from planner.formulation.step_one import PackedServers
from planner.formulation.step_two import FOUND, StepTwoLimits
from planner.formulation.terms import sum_of
from planner.formulation.variables import total

MOST_FILLINGS, MOST_NODES = 20_000, 500_000
"""of servers that are alike, and steps of the search for them"""
Filling = tuple[tuple[int, int], ...]
"""(kind, blocks) of a server"""


def pack_servers(problem: Problem, least: float, limits: StepTwoLimits) -> PackedServers | None:
    """The most valuable plan among those of at least `least`; None where fillings do not say all, or are too many."""
    cluster, prices = problem.cluster, BlockPrices.of(problem)
    is_even = any(demand.is_even for options in problem.options for demand in options.shapes.distinct[0])
    if prices is None or is_even or cluster.fabric.racks > 1:
        return None
    columns = _columns(problem, prices, least)
    caps = Counter[int]()
    for of_job in columns:
        for kind in {kind for kind, _ in of_job}:
            caps[kind] += max(number for each, number in of_job if each == kind)
    fillings: list[tuple[Room, Filling]] = []
    for room in prices.rooms:
        found = _Fillings(prices, caps, room, prices.bound - least).found()
        if found is None:
            return None
        fillings += [(room, filling) for filling in found]
    return _packed(problem, prices, columns, fillings, limits)


def _columns(problem: Problem, prices: BlockPrices, least: float) -> list[dict[tuple[int, int], int]]:
    """Of each job, the most valuable row by kind and number of blocks, of those that such plans may use."""
    columns = []
    bounds = KnapsackBounds.of(problem).rows
    for options, most, kinds, numbers in zip(problem.options, bounds, prices.kind, prices.number, strict=True):
        rows = dict[tuple[int, int], int]()
        for row in np.flatnonzero(most >= least - SLACK * max(1.0, abs(least))).tolist():
            key = int(kinds[row]), int(numbers[row])
            if key not in rows or options.value[row] > options.value[rows[key]]:
                rows[key] = row
        columns.append(rows)
    return columns


@dataclass
class _Fillings:
    """Fillings of a server that lose no more than a plan may, with no room for one more block of any kind."""

    prices: BlockPrices
    caps: Counter[int]
    """blocks of each kind that all jobs together may have"""
    room: Room
    lost: float
    """value that a plan may lose against the bound"""
    _known: list[Filling] = field(default_factory=list)
    _nodes: int = 0

    def found(self) -> list[Filling] | None:
        """None where these are too many."""
        order = sorted(self.caps, key=lambda kind: (-int(self.prices.prices[kind]), kind))
        blocks = [self.prices.blocks.kinds[kind].tolist() for kind in order]
        least = int(self.prices.table[self.room]) - int(self.lost / self.prices.step) - 1
        self._extend(order, blocks, (), self.room, least)
        return self._known if self._nodes <= MOST_NODES and len(self._known) <= MOST_FILLINGS else None

    def _extend(
        self, order: Sequence[int], blocks: Sequence[Sequence[int]], filling: Filling, left: Room, least: int
    ) -> None:
        """All fillings that begin with this one, and are worth so many steps more."""
        self._nodes += 1
        if self._nodes > MOST_NODES or len(self._known) > MOST_FILLINGS or int(self.prices.table[left]) < least:
            return
        at = len(filling)
        if at == len(order):
            if least <= 0 and self._is_full(filling, blocks, left):
                self._known.append(tuple((kind, number) for kind, number in filling if number))
            return
        kind, block = order[at], blocks[at]
        most = min(self.caps[kind], *(there // takes for there, takes in zip(left, block, strict=True) if takes))
        price = int(self.prices.prices[kind])
        for number in range(most, -1, -1):
            after = tuple(there - number * takes for there, takes in zip(left, block, strict=True))
            self._extend(order, blocks, (*filling, (kind, number)), after, least - number * price)

    def _is_full(self, filling: Filling, blocks: Sequence[Sequence[int]], left: Room) -> bool:
        return not any(
            number < self.caps[kind] and all(takes <= there for takes, there in zip(block, left, strict=True))
            for (kind, number), block in zip(filling, blocks, strict=True)
        )


def _packed(
    problem: Problem,
    prices: BlockPrices,
    columns: Sequence[dict[tuple[int, int], int]],
    fillings: Sequence[tuple[Room, Filling]],
    limits: StepTwoLimits,
) -> PackedServers | None:
    """Rows and fillings of the most value: servers have the blocks of all rows.

    The linear relaxation decides here: one worker begins with it, two of them leave it alone.
    """
    cp = cp_model.CpModel()
    chosen = [{key: cp.new_bool_var("") for key in of_job} for of_job in columns]
    used = [cp.new_int_var(0, prices.rooms[room], "") for room, _ in fillings]
    wanted: dict[int, list[cp_model.LinearExprT]] = {}
    for options, literals in zip(problem.options, chosen, strict=True):
        (cp.add_exactly_one if options.must_run else cp.add_at_most_one)(literals.values())
        for (kind, number), literal in literals.items():
            wanted.setdefault(kind, []).append(number * literal)
    _limit(cp, prices, fillings, used, wanted)
    parts = [
        [(float(options.value[of_job[key]]), literal) for key, literal in literals.items()]
        for options, of_job, literals in zip(problem.options, columns, chosen, strict=True)
    ]
    term = sum_of(parts, is_maximized=True)
    cp.maximize(term.expression)
    solver = limits.solver()
    solver.parameters.linearization_level, solver.parameters.num_workers = 2, 1
    status = solver.solve(cp)
    if status == cp_model.INFEASIBLE:
        return PackedServers({}, float("-inf"), term.rounding)
    if status not in FOUND or not term.is_fine:
        return None
    rows = [next((key for key in literals if solver.value(literals[key])), None) for literals in chosen]
    numbers = [solver.value(times) for times in used]
    pattern = _pattern(problem, columns, rows, zip(fillings, numbers, strict=True))
    return PackedServers(pattern, term.to_float(round(solver.best_objective_bound)), term.rounding)


def _limit(
    cp: cp_model.CpModel,
    prices: BlockPrices,
    fillings: Sequence[tuple[Room, Filling]],
    used: Sequence[cp_model.IntVar],
    wanted: Mapping[int, Sequence[cp_model.LinearExprT]],
) -> None:
    """No more fillings than servers, and in them the blocks of all chosen rows."""
    there: dict[int, list[cp_model.LinearExprT]] = {}
    for (_, filling), times in zip(fillings, used, strict=True):
        for kind, number in filling:
            there.setdefault(kind, []).append(number * times)
    for kind, terms in wanted.items():
        cp.add(total(terms) <= total(there.get(kind, [])))
    for room, number in prices.rooms.items():
        cp.add(total(t for (each, _), t in zip(fillings, used, strict=True) if each == room) <= number)


def _pattern(
    problem: Problem,
    columns: Sequence[dict[tuple[int, int], int]],
    rows: Sequence[tuple[int, int] | None],
    fillings: Iterable[tuple[tuple[Room, Filling], int]],
) -> Pattern:
    """Servers take fillings in order, and jobs blocks of their kind from one server after the other."""
    servers = servers_by_room(problem)
    places: dict[int, list[int]] = {}
    for (room, filling), times in fillings:
        for _ in range(times):
            server = servers[room].pop()
            for kind, number in filling:
                places.setdefault(kind, []).extend([server] * number)
    pattern: dict[int, Choice] = {}
    for j, (of_job, key) in enumerate(zip(columns, rows, strict=True)):
        if key is not None:
            kind, number = key
            taken = Counter(places[kind].pop() for _ in range(number))
            pattern[j] = Choice(of_job[key], False, tuple(sorted(taken.items())))
    return pattern

r"""Prices of blocks, by column generation over what fills a server (Gilmore and Gomory, 1961).

Whatever prices $\pi \ge 0$ blocks have, what is placed is worth no more than the best fillings of all servers:
$\sum_{jk} n_k \pi_{b(k)} z_{jk} \le \sum_s \max_{a \in s} \pi \cdot a$, row k having $n_k$ blocks of kind $b(k)$. This
is a valid row of step 1, and with the multiplier 1 a Lagrangian bound on value. A linear program over rows and fillings
looks for the prices with the least bound.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil, fsum
from typing import cast

import numpy as np
from numpy.typing import NDArray

from planner.fabrics.divided_ports.server_blocks import Ints, Room, ServerBlocks, axes_of, servers_by_room, taken
from planner.fabrics.problem import JobOptions, Problem
from planner.formulation.linear import Rows, minimized

Floats = NDArray[np.float64]
MOST_FILLINGS = 200
MOST_COLUMNS, MOST_CELLS = 6_000, 4_000_000
"""rows that differ, and kinds x room of a server, up to which prices are looked for"""
STEPS = 1_000_000
"""integer steps of price in the largest value of a job"""
SECONDS = 10.0
"""of one linear program, far more than it takes"""


@dataclass(frozen=True)
class BlockPrices:
    """The best prices that were found, and the bounds that they prove."""

    blocks: ServerBlocks
    rooms: Counter[Room]
    kind: tuple[Ints, ...]
    """(C_j,) for each job: kind of the blocks of each row"""
    number: tuple[Ints, ...]
    """(C_j,) for each job: blocks of each row"""
    prices: Ints
    """(K,) in steps"""
    step: float
    """value of one step of price"""
    bound: float
    """no plan has more value"""
    _options: tuple[JobOptions, ...]

    @classmethod
    def of(cls, problem: Problem) -> "BlockPrices | None":
        """Prices of a problem, found once; None where jobs share nothing, may stay, or are too many."""
        if cls not in problem.relaxations:
            problem.relaxations[cls] = _Search.of(problem)
        return cast("BlockPrices | None", problem.relaxations[cls])

    @cached_property
    def table(self) -> Ints:
        """`ServerBlocks.most` at these prices."""
        return self.blocks.most(self.prices)

    @property
    def limit(self) -> int:
        """Of all blocks that are placed, in steps."""
        return sum(number * int(self.table[room]) for room, number in self.rooms.items())

    @cached_property
    def rows(self) -> tuple[Floats, ...]:
        """(C_j,) for each job: no plan that uses the row has more value.

        Its own blocks are placed first, wherever what they leave is worth the most.
        """
        others = self.bound - self.limit * self.step
        beside = dict[int, Floats]()
        bounds = list[Floats]()
        for options, kinds, numbers in zip(self._options, self.kind, self.number, strict=True):
            most = _best(options, self.prices[kinds] * numbers, self.step)
            for kind in np.unique(kinds).tolist():
                if kind not in beside:
                    beside[kind] = self._beside(kind) * self.step
            left = [beside[kind][n] for kind, n in zip(kinds.tolist(), numbers.tolist(), strict=True)]
            bounds.append(options.value + (others - most) + np.array(left, np.float64))
        return tuple(bounds)

    def _beside(self, kind: int) -> Floats:
        """In steps, the most that servers are worth beside n blocks of a kind, n = 0 .. the most of any row."""
        most = max(int(n[k == kind].max(initial=0)) for k, n in zip(self.kind, self.number, strict=True))
        worth = np.full(most + 1, -np.inf)
        worth[0] = 0.0
        block = self.blocks.kinds[kind]
        for room, number in self.rooms.items():
            fits = min(most, *(there // takes for there, takes in zip(room, block.tolist(), strict=True) if takes))
            left = [float(self.table[tuple(np.array(room) - n * block)]) for n in range(fits + 1)]
            for _ in range(min(number, most)):
                worth = np.max(
                    [np.concatenate([np.full(n, -np.inf), worth[: most + 1 - n]]) + w for n, w in enumerate(left)],
                    axis=0,
                )
            worth += (number - min(number, most)) * left[0]
        return worth


def _best(options: JobOptions, steps: Ints, step: float) -> float:
    """The most that a job adds to the bound where its rows pay so many steps."""
    paid = steps.astype(np.float64) * step
    return float((options.value - paid).max(initial=-np.inf if options.must_run and len(options) else 0.0))


class _Search:
    """Columns of the linear program: rows of jobs that differ in value, kind or number of blocks; then fillings."""

    def __init__(self, problem: Problem, rooms: Counter[Room]) -> None:
        self.options, self.rooms = problem.options, rooms
        index, axes = dict[Room, int](), axes_of(problem)
        self.kind, self.number = list[Ints](), list[Ints]()
        for options in problem.options:
            demands, of = options.shapes.distinct
            kinds = np.array([index.setdefault(taken(demand, axes), len(index)) for demand in demands], np.int64)
            parts = np.array([demand.num_parts for demand in demands], np.int64)
            self.kind.append(kinds[of])
            self.number.append(parts[of])
        room = tuple(max(each) for each in zip(*rooms, strict=True))
        self.blocks = ServerBlocks(np.array([*index], np.int64).reshape(-1, len(room)), room)
        self.columns = [*self._columns()]

    @classmethod
    def of(cls, problem: Problem) -> BlockPrices | None:
        rooms = Counter({room: len(servers) for room, servers in servers_by_room(problem).items()})
        if not rooms or any(options.can_stay for options in problem.options) or not problem.num_candidates:
            return None
        search = cls(problem, rooms)
        cells = len(search.blocks.kinds) * np.prod(np.array(search.blocks.room) + 1)
        return search.prices() if len(search.columns) <= MOST_COLUMNS and cells <= MOST_CELLS else None

    def _columns(self) -> Iterator[tuple[int, int, int, float]]:
        """Job, kind, number of blocks and the most value of rows that have these."""
        for j, (options, kinds, numbers) in enumerate(zip(self.options, self.kind, self.number, strict=True)):
            most = dict[tuple[int, int], float]()
            for kind, number, value in zip(kinds.tolist(), numbers.tolist(), options.value.tolist(), strict=True):
                most[kind, number] = max(most.get((kind, number), 0.0), value)
            yield from ((j, kind, number, value) for (kind, number), value in most.items())

    def prices(self) -> BlockPrices | None:
        """Those of the least bound: the best fillings at its prices enter the program, until it knows them all."""
        step = max((value for *_, value in self.columns), default=0.0) / STEPS
        if step <= 0:
            return None
        best: BlockPrices | None = None
        fillings: list[tuple[Room, Ints]] = []
        for _ in range(MOST_FILLINGS):
            paid = self._paid(fillings)
            if paid is None:
                break
            found = self._priced(paid, step)
            if best is None or found.bound < best.bound:
                best = found
            new = [(room, self.blocks.filled(found.prices, found.table, room)) for room in self.rooms]
            known = {(room, filling.tobytes()) for room, filling in fillings}
            new = [(room, filling) for room, filling in new if (room, filling.tobytes()) not in known]
            if not new:
                break
            fillings += new
        return best

    def _paid(self, fillings: Sequence[tuple[Room, Ints]]) -> Floats | None:
        """(J,): the worth of each job beyond its blocks where servers have fillings of these; None without time."""
        rows, number = Rows(), len(self.columns)
        job, kind, blocks, value = (np.array(each) for each in zip(*self.columns, strict=True))
        for j, options in enumerate(self.options):
            own = np.flatnonzero(job == j)
            rows.add(own, np.ones(len(own)), float(options.must_run and len(own) > 0), 1.0)
        for k in range(len(self.blocks.kinds)):
            own = np.flatnonzero(kind == k)
            having = [number + f for f, (_, filling) in enumerate(fillings) if filling[k]]
            counts = [-float(fillings[f - number][1][k]) for f in having]
            rows.add([*own, *having], [*blocks[own].astype(float), *counts], -np.inf, 0.0)
        for room in self.rooms:
            filled = [number + f for f, (each, _) in enumerate(fillings) if each == room]
            rows.add(filled, [1.0] * len(filled), -np.inf, float(self.rooms[room]))
        box = np.zeros((number + len(fillings), 2))
        box[:number, 1] = 2.0
        box[number:, 1] = 2.0 * self.rooms.total()
        solved = minimized(rows, box, np.concatenate([-value, np.zeros(len(fillings))]), SECONDS)
        return None if solved is None else -solved.multipliers[: len(self.options)]

    def _priced(self, paid: Floats, step: float) -> BlockPrices:
        """The least prices at which no job is worth more than this beyond its blocks, and what they prove."""
        prices = np.zeros(len(self.blocks.kinds), np.int64)
        for j, kind, number, value in self.columns:
            prices[kind] = max(prices[kind], ceil((value - paid[j]) / (number * step)))
        found = BlockPrices(
            self.blocks, self.rooms, tuple(self.kind), tuple(self.number), prices, step, 0.0, self.options
        )
        jobs = fsum(
            _best(options, prices[kinds] * numbers, step)
            for options, kinds, numbers in zip(self.options, self.kind, self.number, strict=True)
        )
        return replace(found, bound=jobs + found.limit * step)

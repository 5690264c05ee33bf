"""Ruin and recreate: clear some servers of a plan, place their jobs and those that wait anew, keep what is no worse."""

import random
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planner.candidates.device_price import DevicePrice
from planner.candidates.knapsack_bounds import SLACK
from planner.fabrics import plugin_of
from planner.fabrics.free_state import FreeState
from planner.fabrics.problem import JobOptions, Problem
from planner.fabrics.search import Search
from planner.heuristics.greedy import place
from planner.heuristics.standing import PARTS, Standing
from planner.heuristics.strategies import scattered, tightest
from planner.model.clock import Clock
from planner.model.plan import Assignment
from planner.model.result import SolveOptions

MOST_ROUNDS = 20_000
ROUNDS_PER_UNIT = 20
"""rounds for each unit of a deterministic limit"""
PATIENCE = 300
"""rounds without a better plan"""
MOST_JOBS = 10
"""so many jobs beside the first are taken out at once"""
MOST_WAITING = 60
"""so many jobs without a place are tried in a round"""
NUM_SERVERS = (1, 1, 2, 2, 3)
"""how many servers are cleared"""
PRICES = (0.0, 0.5, 0.8, 1.0, 1.0, 1.2)
"""of devices and links, over those of the knapsack relaxation: dear devices leave room for more jobs"""
SHUFFLE = 1.5
"""factor by which keys of the order of jobs are changed at most"""
STANDING_SHARE = 0.5
"""of the time, in which rows are looked for that find a place on an empty cluster"""
DEVIATION = 0.002
"""of the best value, by which the plan may be worse for a while where jobs are scattered (record-to-record travel)"""


@dataclass(frozen=True)
class Effort:
    """When to give up: when the clock is over or after so many rounds, and after so many without a better plan."""

    clock: Clock
    rounds: int
    patience: int

    @classmethod
    def of(cls, options: SolveOptions, clock: Clock, *, patience: int = PATIENCE) -> "Effort":
        """Rounds instead of the time where the limit is deterministic."""
        limit = options.deterministic_limit
        if limit is None:
            return cls(clock, MOST_ROUNDS, patience)
        return cls(options.counted(clock), int(limit * ROUNDS_PER_UNIT), patience)


def recreated(
    problem: Problem, start: Sequence[Assignment], seed: int, effort: Effort, enough: float
) -> Iterator[list[Assignment]]:
    """Plans of more and more value, until `enough` is reached or the effort spent; `problem` should have few rows."""
    search, last_better = RuinRecreate(problem, start, seed, effort.clock), 0
    for number in range(effort.rounds):
        if effort.clock.is_over or number - last_better > effort.patience:
            return
        if search.best >= enough - SLACK * abs(enough):
            return
        if search.step():
            last_better = number
            yield list(search.placed.values())


class RuinRecreate:
    """A plan that gets better round by round; residents that can stay do so where the start leaves them.

    Where light inside servers is short, jobs are scattered over servers, too, in rows that stand on an empty cluster.
    """

    def __init__(self, problem: Problem, start: Sequence[Assignment], seed: int, clock: Clock) -> None:
        self.problem, self.clock = problem, clock
        self.rng = random.Random(seed)
        self.search, self.standing, self.deviation = Search(tightest), None, 0.0
        if plugin_of(problem.cluster.fabric).starts.are_scattered(problem.cluster):
            self.search, self.deviation = Search(scattered(self.rng, PARTS), is_fixed=False), DEVIATION
            self.standing = Standing.of(problem)
        self.standing_clock = clock.within(STANDING_SHARE * clock.left_s)
        self.prices = DevicePrice.of(problem)
        self.free = FreeState.empty(problem.cluster)
        number = {options.job.name: j for j, options in enumerate(problem.options)}
        self.placed = {number[assignment.job]: assignment for assignment in start}
        self.most = np.array([options.value.max(initial=0.0) for options in problem.options])
        may_move = [bool(len(o)) and not (j in self.placed and o.can_stay) for j, o in enumerate(problem.options)]
        self._may_move = np.array(may_move, np.bool_)
        self._waits = self._may_move.copy()
        self._values = np.zeros(len(problem.options))
        self._jobs_on = defaultdict[int, set[int]](set)
        for j, assignment in self.placed.items():
            self.free.take_named(assignment)
            self._enter(j, assignment)
        self.best = self.value
        self._orders = dict[tuple[int, float], NDArray[np.int64]]()

    @property
    def value(self) -> float:
        return float(self._values.sum())

    def step(self) -> bool:
        """One round; whether the plan became better than all before."""
        if not self._may_move.any():
            return False
        out = {j: self.placed[j] for j in self._cleared()}
        for j, assignment in out.items():
            self.free.release_named(assignment)
            self._leave(j, assignment)
        new = self._place_anew(self._chosen(out))
        kept, added = self.value, sum(a.value for a in new.values())
        is_near = self.deviation > 0 and kept + added >= (1 - self.deviation) * self.best
        is_kept = is_near or added >= sum(a.value for a in out.values())
        is_kept = is_kept and all(j in new for j in out if self.problem.options[j].must_run)
        if not is_kept:
            for assignment in new.values():
                self.free.release_named(assignment)
            for assignment in out.values():
                self.free.take_named(assignment)
        for j, assignment in (new if is_kept else out).items():
            self._enter(j, assignment)
        is_better = is_kept and kept + added > self.best + SLACK
        self.best = max(self.best, kept + added) if is_kept else self.best
        return is_better

    def _cleared(self) -> list[int]:
        """A job that could be worth more, and jobs on a few servers."""
        rng, num_servers = self.rng, self.problem.cluster.fabric.num_servers
        missing = np.maximum(self.most - self._values, 0.0) + SLACK  # rows of a short list may be worth less
        shares = np.where(self._may_move, missing, 0.0).cumsum()
        first = int(shares.searchsorted(rng.random() * shares[-1], side="right"))
        servers = rng.sample(range(num_servers), min(rng.choice(NUM_SERVERS), num_servers))
        there = set[int]().union(*(self._jobs_on[server] for server in servers))
        others = sorted(j for j in there if self._may_move[j] and j != first)
        rng.shuffle(others)
        return [*([first] if first in self.placed else []), *others[:MOST_JOBS]]

    def _chosen(self, out: Collection[int]) -> list[int]:
        """Jobs that were taken out, and some of those that wait."""
        waiting = [j for j in np.flatnonzero(self._waits).tolist() if j not in out]
        if len(waiting) > MOST_WAITING:
            waiting = self.rng.sample(waiting, MOST_WAITING)
        return sorted([*out, *waiting])

    def _enter(self, j: int, assignment: Assignment) -> None:
        self.placed[j], self._values[j], self._waits[j] = assignment, assignment.value, False
        for server in self._servers(assignment):
            self._jobs_on[server].add(j)

    def _leave(self, j: int, assignment: Assignment) -> None:
        del self.placed[j]
        self._values[j], self._waits[j] = 0.0, True
        for server in self._servers(assignment):
            self._jobs_on[server].discard(j)

    def _servers(self, assignment: Assignment) -> set[int]:
        return {self.problem.cluster.fabric.parse_device(name)[0] for name in assignment.devices}

    def _place_anew(self, waiting: Sequence[int]) -> dict[int, Assignment]:
        """Assignments of those that fit: large jobs first, or jobs worth most for a device, with some disorder."""
        share = self.rng.choice(PRICES)
        by_size = self.rng.random() < 0.5
        keys, rows = dict[int, tuple[bool, float]](), dict[int, list[int]]()
        for j in waiting:
            options = self.problem.options[j]
            rows[j] = self._in_order(options, share)
            best = float(options.candidates.num_devices[rows[j][0]])
            key = best if by_size else float(self.most[j]) / best
            keys[j] = options.must_run, key * SHUFFLE ** self.rng.uniform(-1, 1)
        new = {}
        for j in sorted(waiting, key=lambda j: keys[j], reverse=True):
            if self.clock.is_over:
                break
            found = place(self.free, self.problem.options[j], self.search, self._standing(j, rows[j]))
            if found is not None:
                new[j] = found
        return new

    def _in_order(self, options: JobOptions, share: float) -> list[int]:
        """Rows from the most to the least value beyond such a share of prices; sorted once for jobs that share them."""
        key = id(options.value), share
        if key not in self._orders:
            self._orders[key] = np.argsort(self.prices.cost(options) * share - options.value, kind="stable")
        rows: list[int] = self._orders[key].tolist()
        return rows

    def _standing(self, j: int, rows: Sequence[int]) -> Iterable[int]:
        """Rows that may find a place; the only one of a job is tried unasked."""
        standing, options = self.standing, self.problem.options[j]
        if standing is None or len(rows) == 1:
            return rows
        return (row for row in rows if standing.allows(options, row, self.standing_clock))

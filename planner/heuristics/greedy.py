"""Greedy bin packing: jobs one after the other, each with its first candidate that fits; frame of all heuristics."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from planner.candidates.device_price import DevicePrice
from planner.candidates.lagrangian_bounds import has_prices, pool_prices
from planner.fabrics.free_state import FreeState
from planner.fabrics.problem import JobOptions, Problem
from planner.fabrics.search import Search, Strategy
from planner.heuristics.counted_servers import CountedServers
from planner.model.clock import Clock
from planner.model.collector import resting_collector
from planner.model.plan import Assignment

LEAST_S = 0.5
"""seconds that a heuristic has, if nothing else was left: there is always a plan"""
FEW_ROWS = 100
"""of a job, that are tried whatever the time"""
LARGE_SHARE = 0.5
"""of the time, after which jobs that are worth most for an accelerator come first: small ones take less time"""
RowOrder = Callable[[JobOptions], Iterable[int]]


@resting_collector()
def place_all(
    problem: Problem,
    strategy: Strategy,
    *,
    row_order: RowOrder = JobOptions.rows_by_value,
    job_order: Sequence[int] | None = None,
    clock: Clock | None = None,
) -> list[Assignment] | None:
    """Assignments of residents and of every job that fits, or None if one that must run does not.

    Residents that can stay do so; then displaced residents, required jobs, and the others, each in the given
    order (arrival by default). When half of the time is over, jobs that are worth most for an accelerator come first;
    when all of it is, jobs that may wait do, and of the one that is tried all rows but the first ones are left.
    """
    last = None if clock is None else clock.lasting(LEAST_S)
    asked = problem.options if job_order is None else [problem.options[j] for j in job_order]
    assignments = [options.staying() for options in asked if options.can_stay]
    free = CountedServers.of(problem, strategy) or _Free(problem, strategy, assignments)
    required, others = list[JobOptions](), list[JobOptions]()
    for options in asked:
        if not options.can_stay:
            (required if options.must_run else others).append(options)
    for options in required:
        found = free.place(options, row_order(options))
        if found is None:
            return None
        assignments.append(found)
    for options in _in_time(others, clock):
        if not free.num_free:
            break
        found = free.place(options, _until(last, row_order(options)))
        if found is not None:
            assignments.append(found)
    return assignments


class _Free:
    """What is free beside those that stay, whatever else jobs hold."""

    def __init__(self, problem: Problem, strategy: Strategy, stay: Iterable[Assignment]) -> None:
        self._state, self._search = FreeState.empty(problem.cluster), Search(strategy)
        for each in stay:
            self._state.take_named(each)

    @property
    def num_free(self) -> int:
        return self._state.num_free

    def place(self, options: JobOptions, rows: Iterable[int]) -> Assignment | None:
        return place(self._state, options, self._search, rows)


def _in_time(order: Sequence[JobOptions], clock: Clock | None) -> Iterator[JobOptions]:
    """Jobs in this order, and when half of the time is over those first that are worth most for an accelerator; none
    when all of it is."""
    if clock is None:
        yield from order
        return
    half, whole, left = clock.within(LARGE_SHARE * clock.left_s), clock.lasting(LEAST_S), deque(order)
    is_late = False
    while left and not whole.is_over:
        if not is_late and half.is_over:
            is_late, left = True, deque(sorted(left, key=lambda options: -_worth_each(options)))
        yield left.popleft()


def _until(clock: Clock | None, rows: Iterable[int]) -> Iterator[int]:
    """Rows that are tried: some whatever the time, the others before it is over."""
    for number, row in enumerate(rows):
        if clock is not None and number >= FEW_ROWS and clock.is_over:
            return
        yield row


def _worth_each(options: JobOptions) -> float:
    """The most value for an accelerator."""
    return float((options.value / options.candidates.num_devices).max(initial=0.0))


def place(free: FreeState, options: JobOptions, search: Search, rows: Iterable[int]) -> Assignment | None:
    """Place one job with the first of the rows that fits, and take what it needs."""
    if not free.num_free:
        return None
    asked = ((options.shapes[row], row) for row in rows)
    return free.first_that_fits(asked, search, lambda row, blocks: free.assign(options, row, blocks))


def priced_rows(problem: Problem) -> tuple[RowOrder, list[int]]:
    """Rows and jobs in the order of the knapsack relaxation: value less a price per device."""
    if has_prices(problem):
        return _priced_in_pool(problem)
    price = DevicePrice.of(problem)
    known: dict[int, tuple[tuple[bool, int, float], _Descending, NDArray[np.float64]]] = {}

    def found(options: JobOptions) -> tuple[tuple[bool, int, float], _Descending, NDArray[np.float64]]:
        """Place among jobs, order of rows, and their values, which are kept so that no others come to lie there: once
        of jobs that share them."""
        key = id(options.value)
        if key not in known:
            devices = options.candidates.num_devices
            reduced = options.value - price.cost(options)
            rank = True, 0, 0.0
            if len(options):
                best = int(reduced.argmax())
                rank = bool(reduced[best] <= 0), -int(devices[best]), -float((options.value / devices).max())
            known[key] = rank, _Descending(reduced), options.value
        return known[key]

    ranks = [found(options)[0] for options in problem.options]
    return lambda options: found(options)[1], sorted(range(len(ranks)), key=ranks.__getitem__)


class _Descending:
    """Rows from the highest to the lowest, ties as they come; most who ask want no more than the first."""

    def __init__(self, reduced: NDArray[np.float64]) -> None:
        self._reduced = reduced
        self._first = [int(reduced.argmax())] if len(reduced) else []

    def __iter__(self) -> Iterator[int]:
        yield from self._first
        yield from self._others

    @cached_property
    def _others(self) -> list[int]:
        return [row for row in np.argsort(-self._reduced, kind="stable").tolist() if row not in self._first]


def _priced_in_pool(problem: Problem) -> tuple[RowOrder, list[int]]:
    """Value less the prices of accelerators, memory units, ports and uplinks; jobs with the largest share first."""
    prices = pool_prices(problem)
    by_job = {options.job.name: reduced for options, reduced in zip(problem.options, prices.reduced, strict=True)}

    def order(options: JobOptions) -> Iterator[int]:
        return iter(_Descending(by_job[options.job.name]))

    def rank(j: int) -> tuple[bool, float]:
        reduced = prices.reduced[j]
        if not len(reduced):
            return True, 0.0
        best = int(np.argmax(reduced))
        return bool(reduced[best] <= 0), -float(prices.shares[j][best].max())

    return order, sorted(range(len(problem.options)), key=rank)

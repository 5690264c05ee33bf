"""Level 1 for the value of a plan: solve small cores of the candidates first, and prove that they suffice."""

import time
from collections.abc import Sequence

from planner.cpsat.level import LevelOutcome, optimize
from planner.cpsat.search import Search, pattern_of
from planner.sieve import SLACK, Sieve

DEPTHS = (0.0005, 0.002, 0.01, 0.05)
"""how far below the relaxation's bound, as a fraction, each core reaches; then all candidates"""
SMALL = 300
"""so few candidates are solved at once"""


def optimize_value(search: Search, deadline: float) -> LevelOutcome:
    """Maximize value core by core.

    A core holds every row that some plan of at least its threshold may use (bounds of `Sieve`). Once the best plan
    reaches the threshold of a core solved to optimality, it is optimal over all candidates; until then the
    threshold is a bound.
    """
    sieve = Sieve.of(search.full)
    if sieve.bound == float("-inf"):
        search.restrict(search.full)
        return LevelOutcome(is_proven=False, is_infeasible=True)
    search.bound = sieve.bound
    search.report("value", search.bound, "knapsack")
    search.restrict(sieve.core(search.full, search.bound, _current_rows(search)))
    if search.reaches("value"):
        return LevelOutcome(is_proven=True)
    for threshold in _thresholds(search, sieve):
        value = search.value("value")
        search.floor = threshold if value is None else max(threshold, value)
        search.restrict(sieve.core(search.full, search.floor, _current_rows(search)))
        outcome = optimize(search, "value", deadline)
        if outcome.is_infeasible and threshold == float("-inf"):
            return outcome
        value = search.value("value")
        is_in_core = value is not None and value >= search.floor - SLACK * abs(search.floor)
        if (outcome.is_proven and is_in_core) or search.reaches("value"):
            return LevelOutcome(is_proven=True)
        if outcome.is_proven or outcome.is_infeasible:
            search.tighten("value", search.floor)
        if search.is_stopped or time.perf_counter() >= deadline:
            break
    return LevelOutcome(is_proven=False)


def restrict_to_ties(search: Search, tolerance: float) -> None:
    """After level 1: only rows that a plan within the tolerance of the best value may use stay in force."""
    value = search.value("value")
    assert value is not None
    threshold = value - tolerance * abs(value)
    slack = 1e-6 * abs(value)
    search.restrict(Sieve.of(search.full).core(search.full, threshold - slack, _current_rows(search)))


def _thresholds(search: Search, sieve: Sieve) -> Sequence[float]:
    if search.full.num_candidates <= SMALL:
        return (float("-inf"),)
    return (*(sieve.bound * (1 - depth) for depth in DEPTHS), float("-inf"))


def _current_rows(search: Search) -> list[int | None]:
    """Row of each job in the best plan so far."""
    rows: list[int | None] = [None] * len(search.full.options)
    if search.assignments is not None:
        for j, choice in pattern_of(search.full, search.assignments).items():
            rows[j] = choice.row
    return rows

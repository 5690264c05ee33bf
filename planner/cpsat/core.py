"""Level 1 for the value of a plan: solve small cores of the candidates first, and prove that they suffice."""

import time
from collections.abc import Sequence

from planner.cpsat.level import LevelOutcome, optimize
from planner.cpsat.search import Search, pattern_of
from planner.sieve import Sieve

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
    bound = sieve.bound
    search.report("value", bound, "knapsack")
    if search.reaches("value", bound):
        search.restrict(sieve.core(search.full, bound, _current_rows(search)))
        return LevelOutcome(bound, is_proven=True)
    for threshold in _thresholds(search, sieve):
        value = search.value("value")
        if value is not None:
            threshold = max(threshold, value)
        search.restrict(sieve.core(search.full, threshold, _current_rows(search)))
        outcome = optimize(search, "value", deadline)
        if outcome.is_infeasible:
            if threshold == float("-inf"):
                return outcome
            continue
        if outcome.bound is not None:
            # Plans outside the core stay below its threshold.
            bound = min(bound, max(outcome.bound, threshold))
        value = search.value("value")
        if value is not None and (
            (outcome.is_proven and value >= threshold - 1e-9 * abs(threshold)) or search.reaches("value", bound)
        ):
            return LevelOutcome(value, is_proven=True)
        if search.is_stopped or time.perf_counter() >= deadline:
            break
    return LevelOutcome(bound, is_proven=False)


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

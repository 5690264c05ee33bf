"""Exact optimum of tiny instances by enumeration: six devices on a few servers, three jobs.

Nothing is shared with the planner but the file types. For each job the listed configurations are grouped by
the circuits that they hold; each combination of groups is placed in every way, and light is searched for it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from planner.model.instance import Instance, Objective
from planner.model.plan import Plan
from tests.oracles.choices import Choice, Mode, choices
from tests.oracles.placement import Placed, PlacementSearch
from tests.oracles.written_plan import written_plan

MAX_SERVERS = 4
MAX_DEVICES = 6
ROUNDING = 1e-9
"""relative difference below which two values of an objective are equal"""


@dataclass(frozen=True)
class BruteForce:
    """Best value of each level, in the order of the instance, and one plan that has them all."""

    values: dict[str, float]
    """value of a level where the levels before it may spend their tolerance"""
    plan: Plan


def brute_force(instance: Instance) -> BruteForce | None:
    """Lexicographic optimum of a tiny instance; None where required jobs and residents cannot all run."""
    fabric = instance.cluster.fabric
    if fabric.num_servers > MAX_SERVERS or fabric.num_devices > MAX_DEVICES:
        raise ValueError(f"at most {MAX_SERVERS} servers and {MAX_DEVICES} devices can be enumerated")
    return _Enumeration(instance).solve()


class _Enumeration:
    """All combinations of choices, one column of each objective over them."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.search = PlacementSearch(instance)
        self.choices = [
            [c for c in choices(job, instance.cluster) if self._runs_alone(j, c.mode)]
            for j, job in enumerate(instance.all_jobs)
        ]
        self.fragmentation_limit: float | None = None

    def _runs_alone(self, job: int, mode: Mode | None) -> bool:
        modes = [None] * len(self.instance.all_jobs)
        return self.search.can_run((*modes[:job], mode, *modes[job + 1 :]))

    @cached_property
    def _chosen(self) -> NDArray[np.int64]:
        """Index of the choice of each job, shape (jobs, combinations), those that are too large left out."""
        counts = [len(each) for each in self.choices]
        chosen = np.indices(counts, dtype=np.int64).reshape(len(counts), prod(counts))
        sizes = self._total("num_devices", chosen)
        return chosen[:, sizes <= self.instance.cluster.num_healthy]

    def _total(self, name: str, chosen: NDArray[np.int64]) -> NDArray[np.float64]:
        total = np.zeros(chosen.shape[1])
        for each, row in zip(self.choices, chosen, strict=True):
            if name == "num_devices":
                column = [0 if c.mode is None else c.mode.num_devices for c in each]
            else:
                column = [getattr(c, name) for c in each]
            total += np.array(column, dtype=float)[row]
        return total

    def _combination(self, number: int) -> tuple[Choice, ...]:
        row = self._chosen[:, number]
        return tuple(each[i] for each, i in zip(self.choices, row, strict=True))

    def _modes(self, number: int) -> tuple[Mode | None, ...]:
        return tuple(choice.mode for choice in self._combination(number))

    def solve(self) -> BruteForce | None:
        alive = np.arange(self._chosen.shape[1])
        values: dict[str, float] = {}
        last = -1
        for objective in self.instance.objectives:
            if objective.name == "fragmentation":
                found = self._least_fragmentation(alive)
            else:
                found = self._best(alive, self._costs(objective.name))
            if found is None:
                return None
            cost, last = found
            limit = cost + objective.tolerance * abs(cost) + ROUNDING * max(1.0, abs(cost))
            values[objective.name] = _value(objective, cost)
            if objective.name == "fragmentation":
                self.fragmentation_limit = limit
            else:
                alive = alive[self._costs(objective.name)[alive] <= limit]
        placed = self._placed(last)
        return BruteForce(values, written_plan(self.instance, self._combination(last), placed))

    def _costs(self, name: str) -> NDArray[np.float64]:
        """What is minimized, for each combination."""
        return self._total(name, self._chosen) * (-1.0 if name == "value" else 1.0)

    def _best(self, alive: NDArray[np.int64], costs: NDArray[np.float64]) -> tuple[float, int] | None:
        for number in alive[np.argsort(costs[alive], kind="stable")]:
            if self._is_possible(int(number)):
                return float(costs[number]), int(number)
        return None

    def _is_possible(self, number: int) -> bool:
        modes = self._modes(number)
        if self.fragmentation_limit is None:
            return self.search.can_run(modes)
        found = self.search.least_fragmented(modes)
        return found is not None and found.fragmentation <= self.fragmentation_limit

    def _least_fragmentation(self, alive: NDArray[np.int64]) -> tuple[float, int] | None:
        best: tuple[float, int] | None = None
        for bound, number in self._by_fragmentation_bound(alive):
            if best is not None and bound >= best[0]:
                break
            found = self.search.least_fragmented(self._modes(number))
            if found is not None and (best is None or found.fragmentation < best[0]):
                best = found.fragmentation, number
        return best

    def _by_fragmentation_bound(self, alive: NDArray[np.int64]) -> Sequence[tuple[float, int]]:
        """One combination of each set of modes, and a fragmentation that it cannot beat, least first."""
        known: dict[tuple[Mode | None, ...], tuple[float, int]] = {}
        for number in alive:
            modes = self._modes(int(number))
            if modes not in known:
                known[modes] = self.search.fragmentation_bound(modes), int(number)
        return sorted(known.values())

    def _placed(self, number: int) -> Placed:
        placed = self.search.least_fragmented(self._modes(number))
        assert placed is not None
        return placed


def _value(objective: Objective, cost: float) -> float:
    return abs(cost) if objective.name == "value" else cost

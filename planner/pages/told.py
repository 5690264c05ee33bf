"""What a search in rounds over slices and places tells: one clock, plans whose places are known, the best bound so far.

Slices are chosen anew in each round, by steps that places may not reach: what such a choice would be worth is no plan's
value, and is not told. Its bound holds for every plan unless a row counts as slower than it may be.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from planner.fabrics.problem import Problem
from planner.model.plan import Plan
from planner.model.result import Incumbent, Result, SolveOptions, Status, relative_gap
from planner.pages.placed_prices import JobPrices, View, are_proven

VALUE = "value"


@dataclass
class Told:
    """Of one run, as far as it has come; plans and bounds are of the value where that is what counts first."""

    problem: Problem
    options: SolveOptions
    started_s: float = field(default_factory=time.perf_counter)
    trace: list[Incumbent] = field(default_factory=list)
    plan: Plan | None = None
    """the best one with places"""
    value: float | None = None
    """of that plan"""
    bound: float | None = None

    @property
    def elapsed_s(self) -> float:
        return time.perf_counter() - self.started_s

    def options_of(self, jobs: list[JobPrices], view: View) -> SolveOptions:
        """Options for one choice of slices, of which bounds alone are told, where they hold."""
        holds = view == "bound" or (view == "found" and are_proven(jobs))
        tell = self._tell_bound if holds and self._is_by_value else None
        return replace(self.options, on_incumbent=tell)

    def tell_plan(self, plan: Plan, jobs: Sequence[JobPrices], number: int) -> None:
        """A plan of which all places are known, told if it is better than those before it."""
        if not self._is_by_value:
            return
        row_of = {each.options.job.name: each for each in jobs}
        value = sum(row_of[each.job].value(each.configuration) for each in plan.assignments)
        if self.value is None or value > self.value:
            self.plan, self.value = plan, value
            self._tell(f"placed in round {number}")

    def ended(self, result: Result) -> Result:
        """The result with the best bound and all that was told, and its levels told."""
        levels = list(result.levels)
        if levels and self._is_by_value and self.bound is not None and levels[0].value is not None:
            first = levels[0]
            known = self.bound if first.bound is None else min(self.bound, first.bound)
            bound = max(known, levels[0].value)
            levels[0] = replace(first, bound=bound, gap=relative_gap(first.value, bound))
        for level in levels:
            source = "proven" if level.status is Status.OPTIMAL else "limit"
            self._add(Incumbent(self.elapsed_s, level.objective, level.value, level.bound, source))
        return replace(result, levels=tuple(levels), trace=tuple(self.trace))

    @property
    def _is_by_value(self) -> bool:
        return self.problem.instance.objectives[0].name == VALUE

    def _tell_bound(self, found: Incumbent) -> None:
        if found.level == VALUE and found.bound is not None and (self.bound is None or found.bound < self.bound):
            self.bound = found.bound
            self._tell("bound")

    def _tell(self, source: str) -> None:
        bound = self.bound if self.bound is None or self.value is None else max(self.bound, self.value)
        self._add(Incumbent(self.elapsed_s, VALUE, self.value, bound, source))

    def _add(self, found: Incumbent) -> None:
        self.trace.append(found)
        if self.options.on_incumbent is not None:
            self.options.on_incumbent(found)

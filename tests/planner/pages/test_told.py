"""Bounds are told where they hold, and the best one of all rounds is that of the result."""

from dataclasses import replace

import numpy as np
import pytest

from planner.candidates.expand import expand
from planner.model.plan import Plan
from planner.model.result import Incumbent, Level, Result, SolveOptions, Status
from planner.pages.offload import place
from planner.pages.placed_prices import JobPrices
from planner.pages.told import Told
from tests.oracles.placed_nodes import placed_nodes


def _settled(job: JobPrices, *, is_proven: bool) -> None:
    row = int(np.flatnonzero(job.is_placed)[0])
    tier = place("", job.step(row), SolveOptions(time_limit_s=5.0, workers=1))
    assert tier is not None
    own = {"is_proven": is_proven, "bound_s": tier.step_s if is_proven else float(job.least_s[row]) / 2}
    job.settle(row, tier.model_copy(update=own | {"step_s": 2 * float(job.least_s[row])}))


@pytest.mark.parametrize("is_proven", [True, False])
def test_bounds_hold_as_long_as_no_row_may_be_faster_than_it_counts(is_proven: bool) -> None:
    problem = expand(placed_nodes(0))
    jobs = [JobPrices(each, problem.cluster.device) for each in problem.options]
    told = Told(problem, SolveOptions())
    assert told.options_of(jobs, "known").on_incumbent is None
    assert told.options_of(jobs, "found").on_incumbent is not None
    _settled(next(each for each in jobs if each.is_placed.any()), is_proven=is_proven)
    assert (told.options_of(jobs, "found").on_incumbent is not None) == is_proven
    assert told.options_of(jobs, "bound").on_incumbent is not None


def test_the_result_has_the_best_bound_of_all_rounds() -> None:
    problem, found = expand(placed_nodes(0)), list[Incumbent]()
    told = Told(problem, SolveOptions(on_incumbent=found.append))
    tell = told.options_of([JobPrices(each, problem.cluster.device) for each in problem.options], "bound").on_incumbent
    assert tell is not None
    for bound in (5.0, 3.0, 4.0):
        tell(Incumbent(0.0, "value", 2.5, bound, "cpsat"))
    assert [(each.objective, each.bound) for each in found] == [(None, 5.0), (None, 3.0)], "no plan has places yet"
    plan = Plan(instance="", assignments=(), objectives={"value": 2.0})
    result = Result(Status.FEASIBLE, "cpsat", plan, (Level("value", 2.0, 4.0, 0.5, Status.FEASIBLE),))
    assert told.ended(result).levels[0] == replace(result.levels[0], bound=3.0, gap=pytest.approx(1 / 3))
    assert (found[-1].objective, found[-1].bound, found[-1].source) == (2.0, 3.0, "limit")


def test_a_later_search_goes_on_with_the_clock_of_the_run() -> None:
    found = list[Incumbent]()
    tell = SolveOptions(on_incumbent=found.append).begun_after(3.0).on_incumbent
    assert tell is not None
    tell(Incumbent(0.5, "value", 1.0, None, "hint"))
    assert found == [Incumbent(3.5, "value", 1.0, None, "hint")]

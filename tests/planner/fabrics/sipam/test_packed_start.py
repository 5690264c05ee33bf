"""Plans from packings: good, right, and the same again."""

import numpy as np
import pytest

from planner.candidates.expand import expand
from planner.candidates.lagrangian_bounds import pool_prices
from planner.checks import check
from planner.cpsat.solve import plan_of
from planner.fabrics.pattern import Pattern
from planner.fabrics.problem import Problem
from planner.fabrics.sipam import packed_start
from planner.fabrics.sipam.free_state import PoolFreeState
from planner.fabrics.sipam.packed_start import packed
from planner.fabrics.sipam.step2 import realize_server
from planner.formulation.step_two import StepTwoLimits
from planner.model.clock import Clock
from planner.model.plan import Assignment
from tests.benchmarks.random_pools import random_pool


@pytest.fixture(scope="module")
def problem() -> Problem:
    return expand(random_pool(128, 16, 0))


def test_packed_plans_are_good_and_hold(problem: Problem) -> None:
    plans = [*packed(problem, 0, Clock.of(600.0), 120)]
    assert sum(a.value for a in plans[-1]) > 0.95 * pool_prices(problem).bound
    for assignments in plans:
        assert not check(problem.instance, plan_of(problem, assignments), starts=True)
    assert [*packed(problem, 0, Clock.of(600.0), 120)] == plans


def test_no_packing_of_jobs_without_candidates(problem: Problem) -> None:
    nothing = Problem(problem.instance, tuple(o.take(np.zeros(0, np.int64)) for o in problem.options))
    assert [*packed(nothing, 0, Clock.of(600.0), 10)] == []


def test_a_packing_has_a_plan_when_time_is_over(problem: Problem) -> None:
    plans = [*packed(problem, 0, Clock.of(0.0), 120)]
    assert len(plans) == 1
    assert plans[0]
    assert not check(problem.instance, plan_of(problem, plans[0]), starts=True)


def test_servers_are_searched_exactly_only_while_there_is_time(
    problem: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no order of first fit is tried in a server, all of them are left to the end."""
    (quick,) = packed(problem, 0, Clock.of(0.0), 0)
    searched = list[int]()

    def search(
        problem: Problem, pattern: Pattern, free: PoolFreeState, server: int, limits: StepTwoLimits
    ) -> list[Assignment] | None:
        searched.append(server)
        return realize_server(problem, pattern, free, server, limits)

    monkeypatch.setattr(packed_start, "ORDERS", 0)
    monkeypatch.setattr(packed_start, "realize_server", search)
    (late,) = packed(problem, 0, Clock.of(0.0), 0)
    assert not searched
    assert {a.job for a in late} == {a.job for a in quick}
    (exact,) = packed(problem, 0, Clock.of(600.0), 0)
    assert searched == [*range(problem.cluster.fabric.num_servers)]
    assert not check(problem.instance, plan_of(problem, exact), starts=True)


def test_a_pool_with_room_for_all_has_them_all_at_once() -> None:
    """Nothing has a price there, and the first packing leaves nobody out."""
    whole = random_pool(128, 16, 0, units=40)
    jobs = tuple(job for job in whole.jobs if max(job.sizes) <= 8)
    problem = expand(whole.model_copy(update={"jobs": jobs}))
    assert not pool_prices(problem).prices.any()
    (assignments,) = packed(problem, 0, Clock.of(0.0), 0)
    assert {assignment.job for assignment in assignments} == {job.name for job in jobs}

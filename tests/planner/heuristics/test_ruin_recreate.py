"""Ruin and recreate: what it knows of a plan is true after any rounds, and each plan that it yields is sound."""

import numpy as np
import pytest

from planner.candidates.expand import expand
from planner.checks.every_rule import check
from planner.cpsat import core
from planner.cpsat.search import Search
from planner.cpsat.solve import plan_of
from planner.fabrics.problem import Problem
from planner.heuristics import ruin_recreate
from planner.heuristics.greedy import place_all
from planner.heuristics.ruin_recreate import Effort, RuinRecreate, recreated
from planner.heuristics.strategies import tightest
from planner.model.clock import Clock
from planner.model.instance import Instance
from planner.model.plan import Assignment
from planner.model.result import SolveOptions
from planner.policies.cpsat import cpsat
from planner.studies.random_instances import random_datacenter

ACCELERATORS = 64
KINDS = ("lightpath", "fat_tree", "ocs_rail", "torus", "sipam")


def _problem(kind: str, seed: int) -> Problem:
    return expand(Instance.parse(random_datacenter(kind, ACCELERATORS, 24, seed)))


def _start(problem: Problem) -> list[Assignment]:
    start = place_all(problem, tightest)
    assert start is not None
    return start


@pytest.mark.parametrize("kind", KINDS)
def test_values_and_servers_are_those_of_the_jobs_placed(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ruin_recreate, "MOST_WAITING", 4)
    problem = _problem(kind, 1)
    state = RuinRecreate(problem, _start(problem), 3, Clock.of(60))
    for _ in range(40):
        before = state.value
        is_better = state.step()
        assert state.value >= before * (1 - state.deviation) - 1e-9
        assert not is_better or state.value == pytest.approx(state.best)
        assert state.value == pytest.approx(sum(a.value for a in state.placed.values()))
        assert {*np.flatnonzero(state._waits)} == {*range(len(problem.options))} - {*state.placed}
        on = {(server, j) for j, a in state.placed.items() for server in state._servers(a)}
        assert {(server, j) for server, jobs in state._jobs_on.items() for j in jobs} == on
        assert state.free.num_free == ACCELERATORS - sum(len(a.devices) for a in state.placed.values())


@pytest.mark.parametrize("kind", KINDS)
def test_each_plan_is_better_than_the_one_before_and_breaks_no_rule(kind: str) -> None:
    problem = _problem(kind, 2)
    start = _start(problem)
    last = sum(a.value for a in start)
    for found in recreated(problem, start, 5, Effort(Clock.of(60), 60, 60), float("inf")):
        value = sum(a.value for a in found)
        assert value > last
        assert not check(problem.instance, plan_of(problem, found))
        last = value


@pytest.mark.parametrize("when", ["PATIENCE", "LAST_PATIENCE"])
def test_before_and_after_proofs_plans_get_better(when: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where step 1 is too large to be built: of rails, whose servers are no windows of their own, too."""
    monkeypatch.setattr(core, "MOST_COUNTS", 0)
    monkeypatch.setattr(core, "PATIENCE", 0)
    monkeypatch.setattr(core, "LAST_PATIENCE", 0)
    instance = Instance.parse(random_datacenter("ocs_rail", 256, 40, 1))
    options = SolveOptions(time_limit_s=60.0, seed=1)
    without = cpsat(expand(instance), options)
    monkeypatch.setattr(core, when, 200)
    found = cpsat(expand(instance), options)
    assert found.plan is not None
    assert without.plan is not None
    assert found.plan.objectives["value"] > without.plan.objectives["value"]
    assert not check(instance, found.plan)
    assert found.levels[0].bound == without.levels[0].bound
    monkeypatch.setattr(core, "BEGIN_S", 60.0)
    assert cpsat(expand(instance), options).plan == without.plan


def test_what_is_recreated_again_draws_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, seeds = _problem("fat_tree", 1), list[int]()
    search = Search(problem, SolveOptions(time_limit_s=60.0, seed=7))
    search.assignments, search.bound = tuple(_start(problem)), float("inf")
    monkeypatch.setattr(core, "recreated", lambda listed, start, seed, effort, enough: seeds.append(seed) or ())
    for _ in range(3):
        core._recreate(search, search.clock, problem, 5)
    assert len({*seeds}) == 3

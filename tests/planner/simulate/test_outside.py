"""Policies of other distributions replay on every fabric: as strategies at full speed, as functions job by job."""

from importlib.metadata import EntryPoint

import pytest

from planner import policies
from planner.fabrics.problem import Problem
from planner.heuristics.strategies import tightest
from planner.model.instance import Instance
from planner.model.result import Result, SolveOptions
from planner.policies.best_fit import best_fit
from planner.policies.by_strategy import StrategyPolicy
from planner.simulate.run_one import Outcome, SimulationRun, replay
from planner.simulate.study import cells_of, prepare_study
from tests.paths import ROOT
from tests.planner.simulate.grounds import FABRICS, SMALL_DEMAND, cluster, mix

ALL = [*FABRICS, "divided_ports"]
as_strategy = StrategyPolicy("mine", tightest)


def as_function(problem: Problem, options: SolveOptions) -> Result:
    """The same, of which nothing is known but that it plans."""
    assert len(problem.options) == 1
    return best_fit(problem, options)


def _replayed(monkeypatch: pytest.MonkeyPatch, fabric: str, policy: str) -> Outcome:
    points = {
        name: EntryPoint(name, f"{__name__}:{name}", "planner.policies") for name in ("as_strategy", "as_function")
    }
    monkeypatch.setattr(policies, "outside_policies", lambda: points)
    monkeypatch.setattr("planner.simulate.placers.outside_policies", lambda: points)
    of = (
        Instance.load(ROOT / "instances/providers/optical_hbm.yaml").cluster
        if fabric == "divided_ports"
        else cluster(fabric)
    )
    study = prepare_study(SMALL_DEMAND, mix(), {"c": of}, jobs=40, samples=0)
    assert cells_of(study, [policy], [0.6], 1) == [SimulationRun("c", policy, 0.6, 0)]
    return replay(study, SimulationRun("c", policy, 0.6, 0))


@pytest.mark.slow
@pytest.mark.parametrize("fabric", ALL)
def test_a_strategy_is_replayed_as_ours_are(monkeypatch: pytest.MonkeyPatch, fabric: str) -> None:
    mine = _replayed(monkeypatch, fabric, "as_strategy").figures
    assert mine == _replayed(monkeypatch, fabric, "best_fit").figures
    assert mine["utilization"]


@pytest.mark.slow
@pytest.mark.parametrize("fabric", ALL)
def test_a_function_is_asked_about_each_job(monkeypatch: pytest.MonkeyPatch, fabric: str) -> None:
    """On servers of equal devices it decides as the strategy does; elsewhere what it cannot place is nobody's."""
    mine = _replayed(monkeypatch, fabric, "as_function").figures
    ours = _replayed(monkeypatch, fabric, "best_fit").figures
    assert mine["never_fit"] == ours["never_fit"]
    assert mine["utilization"]

"""Servers planned anew a few at a time, where every part belongs to one server; pools have tests of their own."""

import pytest

from planner.candidates.expand import expand
from planner.checks import check
from planner.cpsat import core
from planner.cpsat.lns import neighbourhood
from planner.cpsat.search import Search
from planner.cpsat.solve import plan_of
from planner.heuristics.greedy import place_all
from planner.heuristics.strategies import tightest
from planner.model.clock import Clock
from planner.model.instance import Instance
from planner.model.result import SolveOptions
from tests.fabrics import FABRICS
from tests.planner.simulate.grounds import BERT

OF_SERVERS = ("fat_tree", "memory_ring", "divided_ports")


@pytest.mark.slow
@pytest.mark.parametrize("name", OF_SERVERS)
def test_a_poor_plan_becomes_better_and_stays_right(name: str) -> None:
    """Four jobs of little weight lie where four of much weight should."""
    jobs = [
        {"name": f"j{i}", "workload": BERT, "accelerators": 8, "weight": 1 if i < 4 else 3} for i in range(8)
    ]  # fmt: skip
    cluster = {"device": "h100-sxm", "fabric": FABRICS[name]}
    instance = Instance.parse(
        {"schema_version": 2, "name": "n", "cluster": cluster, "jobs": jobs, "objectives": ["value"]}
    )
    problem = expand(instance)
    assert neighbourhood.has_neighbourhoods(problem)
    start = place_all(problem, tightest, job_order=range(8))
    assert start is not None
    search = Search(problem, SolveOptions(time_limit_s=600.0, workers=1, deterministic_limit=2.0))
    search.assignments = tuple(start)
    before = search.value("value")
    neighbourhood.improve(search, core._planned, Clock.of(8))
    assert before is not None
    assert search.assignments is not None
    assert (search.value("value") or 0) > before
    assert not check(instance, plan_of(problem, search.assignments))


@pytest.mark.parametrize("name", ["lightpath", "ocs_rail", "sipac", "torus"])
def test_elsewhere_jobs_share_more(name: str) -> None:
    cluster = {"device": "h100-sxm", "fabric": FABRICS[name]}
    job = {"name": "j", "workload": BERT, "accelerators": 8}
    instance = Instance.parse({"schema_version": 2, "name": "n", "cluster": cluster, "jobs": [job]})
    assert not neighbourhood.has_neighbourhoods(expand(instance))

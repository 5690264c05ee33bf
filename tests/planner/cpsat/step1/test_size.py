"""Clusters for which step 1 would be too large are planned all the same, in time."""

from time import process_time

import pytest

from planner.candidates.expand import expand
from planner.checks import check
from planner.cpsat.step1.size import MOST_LITERALS, has_more_literals, is_buildable
from planner.model.clock import Clock
from planner.model.files import parse_text
from planner.model.instance import Instance
from planner.model.result import Status
from planner.pipeline import solve
from tests.benchmarks.bench_limits import cluster_text


def cluster(fabric: str, accelerators: int, jobs: int) -> Instance:
    return Instance.parse(parse_text(cluster_text(fabric, accelerators, jobs), fabric), fabric)


@pytest.mark.slow
def test_a_rack_is_built_and_a_large_cluster_is_not() -> None:
    assert is_buildable(expand(cluster("lightpath", 64, 4)), Clock.of(60.0))
    large = expand(cluster("lightpath", 4096, 20))
    assert has_more_literals(large, MOST_LITERALS)
    assert not is_buildable(large, Clock.of(1e6))
    assert not is_buildable(expand(cluster("lightpath", 64, 4)), Clock.of(0.0))


@pytest.mark.slow
@pytest.mark.parametrize("fabric", ["fat_tree", "lightpath"])
def test_thousands_of_accelerators_have_a_checked_plan_in_time(fabric: str) -> None:
    instance, started_s = cluster(fabric, 4096, 12), process_time()
    result = solve(instance, time_limit_s=8.0, workers=1)
    assert result.plan is not None
    assert result.plan.assignments
    assert result.status in (Status.FEASIBLE, Status.OPTIMAL)
    assert check(instance, result.plan, starts=True) == []
    assert process_time() - started_s < 20

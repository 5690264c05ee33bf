"""Jobs packed by numbers lie where they would on a free state."""

import pytest

from planner import Instance
from planner.candidates.expand import expand
from planner.fabrics.room_index import MANY_SERVERS
from planner.fabrics.search import Strategy
from planner.heuristics.counted_servers import CountedServers
from planner.heuristics.greedy import place_all, priced_rows
from planner.heuristics.strategies import aligned, in_order, tightest
from planner.model.edit import edited
from planner.studies.random_instances import random_datacenter
from tests.seeds import seeds

ACCELERATORS = 8 * MANY_SERVERS


@pytest.mark.parametrize("strategy", [tightest, in_order, aligned])
@pytest.mark.parametrize("seed", seeds(2))
def test_the_same_jobs_lie_on_the_same_accelerators(
    strategy: Strategy, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Too many jobs for the cluster, some of which must run, all in the order of their prices."""
    data = random_datacenter("fat_tree", ACCELERATORS, 400, seed)
    for job in data["jobs"][::50]:
        job |= {"required": True, "constraints": {"one_server": True}, "accelerators": [1, 2, 4]}
    problem = expand(Instance.parse(data))
    rows, order = priced_rows(problem)
    assert CountedServers.of(problem, strategy) is not None
    found = place_all(problem, strategy, row_order=rows, job_order=order)
    monkeypatch.setattr(CountedServers, "of", lambda problem, strategy: None)
    assert found == place_all(problem, strategy, row_order=rows, job_order=order)
    assert found is not None
    assert 0 < len(found) < 400


def test_where_more_than_numbers_counts_a_free_state_is_kept() -> None:
    """Parts that are down, few servers, and light."""
    problem = expand(Instance.parse(random_datacenter("fat_tree", ACCELERATORS, 60, 0)))
    cluster = problem.cluster
    broken = edited(cluster, health=edited(cluster.health, failed_tiles=(cluster.fabric.device_name(0, 0),)))
    others = [edited(problem.instance, cluster=broken)]
    others += [Instance.parse(random_datacenter(kind, 1024, 40, 0)) for kind in ("fat_tree", "lightpath")]
    assert CountedServers.of(problem, tightest) is not None
    for other in others:
        assert CountedServers.of(expand(other), tightest) is None

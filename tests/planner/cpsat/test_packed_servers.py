"""Servers that the fabric packs: the best plan is found and proven, where packing says all."""

import pytest

from planner.candidates.expand import expand
from planner.checks import check
from planner.cpsat.packed_servers import pack_servers
from planner.cpsat.search import Search
from planner.cpsat.solve import plan_of
from planner.model.clock import Clock
from planner.model.instance import Instance
from tests.oracles.tiny_shares import best_value, tiny_shares
from tests.planner.cpsat.search_cases import OPTIONS
from tests.planner.small_racks import rack, training


@pytest.mark.parametrize("seed", range(16))
def test_what_is_packed_is_the_enumerated_optimum(seed: int) -> None:
    instance = tiny_shares(seed, objectives=["value"])
    search = Search(expand(instance), OPTIONS)
    search.bound = search.knapsack.bound
    if not pack_servers(search, Clock.of(600.0)):
        return
    assert search.assignments is not None
    plan = plan_of(search.full, search.assignments)
    assert search.value("value") == pytest.approx(best_value(instance), rel=1e-6, abs=1e-9)
    assert search.bound == pytest.approx(best_value(instance), rel=1e-6, abs=1e-9)
    assert check(instance, plan, starts=True) == []


def test_some_are_packed() -> None:
    packed = 0
    for seed in range(16):
        search = Search(expand(tiny_shares(seed, objectives=["value"])), OPTIONS)
        search.bound = search.knapsack.bound
        packed += pack_servers(search, Clock.of(600.0))
    assert packed >= 5


def test_other_fabrics_pack_no_servers() -> None:
    search = Search(expand(Instance.parse(rack(training("a", 2)))), OPTIONS)
    search.bound = search.knapsack.bound
    assert not pack_servers(search, Clock.of(600.0))
    assert search.assignments is None

"""Fillings of servers against every plan."""

import pytest

from planner.candidates.expand import expand
from planner.fabrics.divided_ports.block_prices import BlockPrices
from planner.fabrics.divided_ports.server_fillings import pack_servers
from planner.fabrics.pattern import route_pattern
from planner.formulation.step_two import StepTwoLimits
from tests.oracles.tiny_shares import tiny_shares
from tests.planner.fabrics.divided_ports.clusters import instance, job
from tests.planner.fabrics.divided_ports.placements import placeable

LIMITS = StepTwoLimits(60.0, 5.0, 1, 0)


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("share", [0.0, 0.97, 1.0])
def test_the_best_plan_is_that_of_enumeration(seed: int, share: float) -> None:
    """Of those worth some share of the optimum or more, which it is itself."""
    problem = expand(tiny_shares(seed, objectives=["value"]))
    if BlockPrices.of(problem) is None:
        return
    best = max((value for _, value in placeable(problem)), default=None)
    if best is None:
        assert (packed := pack_servers(problem, 0.0, LIMITS)) is not None
        assert not packed.pattern
        return
    packed = pack_servers(problem, share * best, LIMITS)
    assert packed is not None
    assert packed.bound == pytest.approx(best, rel=1e-7)
    found = route_pattern(problem, packed.pattern)
    assert found is not None
    assert sum(each.value for each in found) == pytest.approx(best, rel=1e-7)


def test_nothing_is_worth_more_than_the_best() -> None:
    problem = expand(instance(job("a", 2), job("b", 2), job("c", 4)))
    best = max(value for _, value in placeable(problem))
    packed = pack_servers(problem, best * 1.001, LIMITS)
    assert packed is not None
    assert packed.bound < best * 1.001


def test_jobs_with_so_many_ranks_on_each_server_are_not_packed() -> None:
    even = job("a", 4, constraints={"per_server": 2})
    assert pack_servers(expand(instance(even)), 0.0, LIMITS) is None

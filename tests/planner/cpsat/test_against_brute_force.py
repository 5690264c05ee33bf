"""The exact policy against enumeration: each level of tiny random instances has the same optimum."""

from math import prod

import pytest
from hypothesis import given, settings

from planner.candidates.expand import expand
from planner.checks import check
from planner.model.instance import Instance
from planner.model.result import Level, Result, Status
from tests.oracles.brute_force import BruteForce, brute_force
from tests.oracles.tiny_by_rack import tiny_by_rack
from tests.oracles.tiny_disaggregated import disaggregated_rings, tiny_disaggregated, tiny_disaggregateds
from tests.oracles.tiny_even import tiny_even, tiny_evens
from tests.oracles.tiny_groups import tiny_groupings, tiny_groups
from tests.oracles.tiny_instances import tiny_crossing, tiny_crossings, tiny_five, tiny_instance, tiny_instances
from tests.oracles.tiny_modules import tiny_modules
from tests.planner.optimum import proven
from tests.seeds import TIMES, seeds

NUM_SEEDS = 40
NUM_CROSSINGS = 25
NUM_FIVES = 12
NUM_EVENS = 15
NUM_BY_RACK = 12
NUM_DISAGGREGATED = 12
NUM_RINGS = 8
NUM_GROUPS = 12
DISPLACED_FROM_A_WINDOW = 1030
"""seed of an instance whose displaced resident leaves a server that is outside of a neighbourhood"""


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(NUM_SEEDS))
def test_every_level_has_the_enumerated_optimum(seed: int) -> None:
    agree(tiny_instance(seed))


@pytest.mark.slow
@settings(max_examples=15 * TIMES, deadline=None, derandomize=True)
@given(tiny_instances)
def test_any_tiny_instance_has_the_enumerated_optimum(instance: Instance) -> None:
    agree(instance)


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(NUM_CROSSINGS))
def test_every_level_has_the_enumerated_optimum_where_light_crosses_servers_or_lasers_fail(seed: int) -> None:
    agree(tiny_crossing(seed))


@pytest.mark.slow
@settings(max_examples=15 * TIMES, deadline=None, derandomize=True)
@given(tiny_crossings)
def test_any_such_instance_has_the_enumerated_optimum(instance: Instance) -> None:
    agree(instance)


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(NUM_FIVES))
def test_every_level_has_the_enumerated_optimum_where_radices_exceed_the_ranks(seed: int) -> None:
    instance = tiny_five(seed)
    plans = expand(instance, prune=False).options[0].candidates.plans
    assert any(prod(plan.radices) > plan.ranks for plan in plans if plan.radices)
    agree(instance)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [*seeds(NUM_EVENS), DISPLACED_FROM_A_WINDOW])
def test_every_level_has_the_enumerated_optimum_where_each_server_gives_as_many(seed: int) -> None:
    agree(tiny_even(seed))


@pytest.mark.slow
@settings(max_examples=6 * TIMES, deadline=None, derandomize=True)
@given(tiny_evens)
def test_any_such_instance_of_even_jobs_has_the_enumerated_optimum(instance: Instance) -> None:
    agree(instance)


@pytest.mark.parametrize("seed", seeds(NUM_BY_RACK))
def test_every_level_has_the_enumerated_optimum_where_racks_give_numbers_of_servers(seed: int) -> None:
    agree(tiny_by_rack(seed))


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(NUM_DISAGGREGATED))
def test_every_level_has_the_enumerated_optimum_where_jobs_serve_from_two_pools(seed: int) -> None:
    """Over sizes of the pools, places and light."""
    agree(tiny_disaggregated(seed))


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(NUM_RINGS))
def test_every_level_has_the_enumerated_optimum_where_two_pools_share_rings(seed: int) -> None:
    agree(disaggregated_rings(seed))


@pytest.mark.slow
@settings(max_examples=5 * TIMES, deadline=None, derandomize=True)
@given(tiny_disaggregateds)
def test_any_such_instance_of_two_pools_has_the_enumerated_optimum(instance: Instance) -> None:
    agree(instance)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [53, 60, 67, 84, 103])
def test_every_level_has_the_enumerated_optimum_where_modules_take_wavelengths(seed: int) -> None:
    agree(tiny_modules(seed))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [16, 21, 42])
def test_every_level_has_the_enumerated_optimum_where_servers_have_pools_of_modules(seed: int) -> None:
    """Without the rows of pools, plans hold more than there is."""
    agree(tiny_modules(seed, shared=True))


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(NUM_GROUPS))
def test_every_level_has_the_enumerated_optimum_where_experts_and_contexts_hold_light(seed: int) -> None:
    agree(tiny_groups(seed))


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(NUM_GROUPS))
def test_every_level_has_the_enumerated_optimum_where_groups_may_hold_circulants(seed: int) -> None:
    agree(tiny_groups(seed, "circulants"))


@pytest.mark.slow
@settings(max_examples=6 * TIMES, deadline=None, derandomize=True)
@given(tiny_groupings)
def test_any_such_instance_of_experts_and_contexts_has_the_enumerated_optimum(instance: Instance) -> None:
    agree(instance)


def test_two_pools_are_listed_with_transfers_over_circuits() -> None:
    plans = [
        plan
        for seed in range(10)
        for options in expand(tiny_disaggregated(seed), prune=False).options
        for plan in options.candidates.plans
    ]
    assert sum(plan.kind == "transfer" and bool(plan.configurations()) for plan in plans) > 10


def agree(instance: Instance) -> None:
    """Compare status, levels and plan."""
    expected = brute_force(instance)
    result = proven(instance, has_plan=expected is not None)
    if result is None or expected is None:
        return
    assert check(instance, expected.plan, starts=True) == [], "the enumerated plan breaks a rule"
    _levels_agree(instance, result, expected)


def _levels_agree(instance: Instance, result: Result, expected: BruteForce) -> None:
    assert [level.objective for level in result.levels] == list(expected.values)
    for objective, level in zip(instance.objectives, result.levels, strict=True):
        optimum = expected.values[objective.name]
        assert level.status is Status.OPTIMAL
        assert level.bound == _near(optimum), f"bound of {objective.name}"
        if objective.tolerance == 0:
            assert level.value == _near(optimum), f"value of {objective.name}"
        else:
            _is_within(level, optimum, objective.tolerance)


def _is_within(level: Level, optimum: float, tolerance: float) -> None:
    """A level may end below its optimum by what the next levels were allowed to spend."""
    assert level.value is not None
    assert abs(level.value - optimum) <= (tolerance + 1e-6) * abs(optimum) + 1e-9


def _near(value: float) -> object:
    return pytest.approx(value, rel=1e-6, abs=1e-9)

"""Shared memory nodes against an enumeration of all slots."""

import pytest

from tests.oracles.tiny_nodes import best_value, tiny_nodes
from tests.planner.optimum import assert_pruning_changes_no_level, assert_solved_to
from tests.seeds import seeds


@pytest.mark.parametrize("seed", [0, 6, 9, 16, 24, 37, 50, 54, 59])
def test_value_is_the_enumerated_optimum(seed: int) -> None:
    """In most of these nodes bind: without their rows the value would be larger; 6 has no plan."""
    instance = tiny_nodes(seed, objectives=["value"])
    assert_solved_to(instance, best_value(instance))


@pytest.mark.parametrize("seed", [2, 9, 24])
def test_nodes_that_failed_have_no_dimms(seed: int) -> None:
    instance = tiny_nodes(seed, objectives=["value"], fails_nodes=True)
    assert_solved_to(instance, best_value(instance))


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(12, first=60))
def test_nodes_that_failed_have_no_dimms_on_more_seeds(seed: int) -> None:
    instance = tiny_nodes(seed, objectives=["value"], fails_nodes=True)
    assert_solved_to(instance, best_value(instance))


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(12, first=60))
def test_value_is_the_enumerated_optimum_on_more_seeds(seed: int) -> None:
    instance = tiny_nodes(seed, objectives=["value"])
    assert_solved_to(instance, best_value(instance))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 108))
def test_without_dominated_rows_every_level_has_the_same_optimum(seed: int) -> None:
    assert_pruning_changes_no_level(tiny_nodes(seed))

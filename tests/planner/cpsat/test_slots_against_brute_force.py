"""The exact policy on fabrics of slices and rails against enumeration: value, then energy, have the same optimum."""

import pytest

from planner.model.instance import Instance
from tests.oracles.best_slots import best_slots
from tests.oracles.tiny_disaggregated import disaggregated_slots
from tests.oracles.tiny_slots import tiny_slots
from tests.planner.optimum import proven
from tests.seeds import seeds

NUM_SEEDS = 60
NUM_DISAGGREGATED = 10


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(NUM_SEEDS))
def test_value_and_energy_are_the_enumerated_optimum(seed: int) -> None:
    agree(tiny_slots(seed))


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(NUM_DISAGGREGATED))
def test_they_are_where_jobs_serve_from_two_pools(seed: int) -> None:
    agree(disaggregated_slots(seed))


def agree(instance: Instance) -> None:
    expected = best_slots(instance)
    result = proven(instance, has_plan=expected is not None)
    if result is None or expected is None:
        return
    assert [level.value for level in result.levels] == pytest.approx(list(expected), rel=1e-6, abs=1e-9)

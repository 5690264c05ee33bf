"""The exact policy on fabrics of slices and rails against enumeration: value, then energy, have the same optimum."""

import pytest

from tests.oracles.best_slots import best_slots
from tests.oracles.tiny_slots import tiny_slots
from tests.planner.optimum import proven

NUM_SEEDS = 160


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(NUM_SEEDS))
def test_value_and_energy_are_the_enumerated_optimum(seed: int) -> None:
    instance = tiny_slots(seed)
    expected = best_slots(instance)
    result = proven(instance, has_plan=expected is not None)
    if result is None or expected is None:
        return
    assert [level.value for level in result.levels] == pytest.approx(list(expected), rel=1e-6, abs=1e-9)

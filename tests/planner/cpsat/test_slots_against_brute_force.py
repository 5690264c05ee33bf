"""The exact policy on fabrics of slices and rails against enumeration: value, then energy, have the same optimum."""

import pytest

from planner.checks import check
from planner.model.result import SolveOptions, Status
from planner.pipeline import solve
from tests.oracles.best_slots import best_slots
from tests.oracles.tiny_slots import tiny_slots

NUM_SEEDS = 160


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(NUM_SEEDS))
def test_value_and_energy_are_the_enumerated_optimum(seed: int) -> None:
    instance = tiny_slots(seed)
    expected = best_slots(instance)
    result = solve(
        instance, policy="cpsat", options=SolveOptions(time_limit_s=600.0, workers=1, deterministic_limit=60.0)
    )
    assert (result.status is Status.INFEASIBLE) == (expected is None)
    if expected is None:
        return
    assert result.status is Status.OPTIMAL
    assert result.plan is not None
    assert check(instance, result.plan, starts=True) == []
    assert [level.value for level in result.levels] == pytest.approx(list(expected), rel=1e-6, abs=1e-9)

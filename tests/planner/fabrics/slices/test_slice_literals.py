"""Literals of slices: step 1 without them leaves packing to step 2."""

import pytest

from planner.checks import check
from planner.fabrics.slices import step1_variables
from planner.pipeline import solve
from tests.planner.fabrics.slices.clusters import OPTIONS, tiny


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 3, 7, 11])
def test_without_literals_of_slices_step_two_packs_them(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    instance = tiny(seed)
    expected = solve(instance, options=OPTIONS)
    monkeypatch.setattr(step1_variables, "MOST_CELLS", 0)
    found = solve(instance, options=OPTIONS)
    assert found.levels[0].value == pytest.approx(expected.levels[0].value)
    assert found.plan is not None
    assert check(instance, found.plan, starts=True) == []

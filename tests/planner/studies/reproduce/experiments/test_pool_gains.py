"""Gains of pooled memory follow from the intensity."""

import pytest

from planner.studies.reproduce.experiments.pool_rooflines import NORMALIZED, OWN
from tests.planner.studies.reproduce.experiments.pools import outcome


def test_gains_follow_from_the_intensity() -> None:
    """F / (3 TB/s x I), where the units reach the intensity; the paper's figures are those of 61.7 and 44.4 FLOP/B."""
    intensity, found = outcome("intensity").quantities, outcome("iteration").quantities
    for phase, published in (("training", 5.4), ("inference", 7.5)):
        ridge = max(intensity[f"intensity 126M {phase}"], intensity[f"ridge 126M {phase}, {OWN}"])
        assert found[f"gain 126M {phase}, {OWN}"] == pytest.approx(1e15 / 3e12 / ridge)
        assert found[f"largest {phase} gain, {OWN}"] == pytest.approx(published, rel=0.1)


def test_a_memory_bound_step_gains_nothing_where_capacity_decides() -> None:
    found = outcome("iteration").quantities
    assert found[f"gain 126M training, {NORMALIZED}, sized by capacity"] == pytest.approx(1.0, rel=1e-12)
    assert all(value <= 5.0 + 1e-9 for name, value in found.items() if name.endswith("sized by capacity"))

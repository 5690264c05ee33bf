"""Configurations ranked like another program does."""

import numpy as np
import pytest

from costmodel.calibrate import calculon
from costmodel.calibrate.errors import rank_correlation
from planner.tables import read_table
from tests.costmodel.calibrate.training_cases import MEASURED, needs_tables, of


@pytest.mark.slow
@needs_tables
def test_ranks_configurations_like_another_program() -> None:
    table = read_table(MEASURED / "calculon_a100.csv", "calculon").columns
    series = calculon.predict(table)
    for quantity, most in (("step time", 0.08), ("step time without vocabulary", 0.06)):
        step = of(series, quantity)
        correlation = rank_correlation(step.predicted, step.measured)
        assert correlation is not None
        assert correlation >= 0.98
        assert np.median(np.abs(step.predicted / step.measured - 1)) <= most

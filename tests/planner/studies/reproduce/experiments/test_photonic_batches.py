"""Curves rise and end at the largest batch."""

import numpy as np

from planner.studies.reproduce.experiments import photonic_batches
from tests.planner.studies.reproduce.experiments.inference import outcome


def test_curves_rise_and_end_at_the_largest_batch() -> None:
    inputs = outcome("photonic_fabric", "inference_batches").inputs
    assert isinstance(inputs, photonic_batches.Inputs)
    curves = photonic_batches.curves(inputs)
    assert len(curves) == 8
    for curve in curves:
        assert np.all(np.diff(curve.output_tokens_per_s) > 0)

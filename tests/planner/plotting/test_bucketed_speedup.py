"""Rings lie at the largest buckets."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from planner.studies.reproduce.run import ExperimentOutcome


def test_rings_lie_at_the_largest_buckets(bert: tuple[ExperimentOutcome, Figure]) -> None:
    outcome, figure = bert
    readings = ("communication alone", "after the backward pass", "beside the backward pass")
    for ax, reading in zip(figure.axes, readings, strict=True):
        rings = [float(np.ravel(line.get_xdata())[0]) for line in ax.get_lines() if line.get_marker() == "o"]
        largest = [outcome.quantities[f"largest bucket of Lumorph-4, {reading}, {n} GPUs"] for n in (32, 64, 128, 256)]
        assert rings == pytest.approx([bucket / 1e6 for bucket in largest if bucket])

"""Bars are the gains of each layer."""

import pytest
from matplotlib.figure import Figure

from planner.plotting.reproduced import FIGURES
from planner.studies.reproduce.published import FOLDER
from planner.studies.reproduce.run import reproduce_file


def test_bars_are_the_gains() -> None:
    outcome = reproduce_file(FOLDER / "optical_hbm" / "decode.yaml")
    ax = FIGURES["optical_hbm_inference"](Figure().subplots(), outcome)
    heights = [bar.get_height() for bar in ax.patches]
    assert len(heights) == 2 * 2 * 5
    means = [sum(heights[i : i + 5]) / 5 for i in range(0, 20, 5)]
    systems = [(m, s) for m in ("175b", "1t") for s in ("own L2", "fast L2")]
    assert means == pytest.approx([outcome.quantities[f"decode gain {m}, {s}"] for m, s in systems])

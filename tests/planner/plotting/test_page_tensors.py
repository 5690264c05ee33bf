"""Bars are as long as tensors are unused, and as high as their shares."""

import pytest
from matplotlib.figure import Figure

from planner.pages.why import unused_s
from planner.plotting.page_tensors import BAR, page_tensors
from tests.planner.plotting.page_figures_cases import TIMELINE


def test_bars_are_as_long_as_tensors_are_unused_and_as_high_as_their_shares() -> None:
    ax = page_tensors(Figure().subplots(), TIMELINE)
    spans = unused_s(TIMELINE) * 1e3
    bars = [bar for bar in ax.patches if bar.get_height() > 0]
    shares = sorted(float(bar.get_height() / BAR) for bar in bars)
    assert shares == pytest.approx(sorted([3 / 6, 2 / 6, 1 / 6, 1, 1 / 2, 1 / 2]))
    ends = {(round(bar.get_x(), 6), round(bar.get_x() + bar.get_width(), 6)) for bar in bars}
    assert ends == {(round(free, 6), round(needed, 6)) for free, needed in spans.tolist()}
    labels = ax.get_legend_handles_labels()[1]
    assert labels == ["kept", "link 0", "link 1", "recomputed"]

"""Figures of a placement of pages: bars are where the tensors are, and for as long."""

import pytest
from matplotlib.figure import Figure

from planner.plotting.page_tiers import memory_bytes, streams_and_waits
from tests.planner.plotting.page_figures_cases import TIMELINE


def test_waits_are_as_long_as_kernels_wait() -> None:
    ax = streams_and_waits(Figure().subplots(), TIMELINE)
    waits = [bar for bar in ax.patches if bar.get_height() == pytest.approx(0.25)]
    assert sum(bar.get_width() for bar in waits) == pytest.approx(1e3 * TIMELINE.waits_s[:, 0].sum())
    kernels = [bar for bar in ax.patches if bar.get_y() < 0.0 and bar.get_height() > 0.25]
    for wait in waits:
        first, last = wait.get_x(), wait.get_x() + wait.get_width()
        assert all(each.get_x() >= last - 1e-6 or each.get_x() + each.get_width() <= first + 1e-6 for each in kernels)


def test_bytes_are_stacked_by_memory() -> None:
    ax = memory_bytes(Figure().subplots(), TIMELINE)
    assert ax.get_legend_handles_labels()[1] == ["stays", "link 0", "link 1"]
    top = max(path.vertices[:, 1].max() for area in ax.collections for path in area.get_paths())
    assert top == pytest.approx(6e-9)

"""Figures of a placement of pages: bars are where the tensors are, and for as long."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from planner.pages.problem import Pages
from planner.pages.why import unused_s
from planner.plotting.page_tensors import BAR, page_tensors
from planner.plotting.page_tiers import memory_bytes, streams_and_waits
from tests.costmodel.dataflow.streams.cases import chain
from tests.planner.page_cases import problem_of, task_of

PROGRAM = chain([1, 1, 1], [1, 1, 1], [6, 4, 2])
PROBLEM = problem_of(task_of(PROGRAM, [2.0, 1.0], 6, may_remake=True), capacity=[None, None])
PAGES = Pages(np.array([[2, 1], [0, 0], [1, 1]]), np.array([3, 0, 0]), np.array([False, True, False]))
TIMELINE = PROBLEM.timeline(0, PAGES)


def test_bars_are_as_long_as_tensors_are_unused_and_as_high_as_their_shares() -> None:
    ax = page_tensors(Figure().subplots(), TIMELINE)
    spans = unused_s(TIMELINE) * 1e3
    bars = [bar for bar in ax.patches if bar.get_height() > 0]
    shares = sorted(float(bar.get_height() / BAR) for bar in bars)
    assert shares == pytest.approx(sorted([3 / 6, 2 / 6, 1 / 6, 1, 1 / 2, 1 / 2]))
    ends = {(round(bar.get_x(), 6), round(bar.get_x() + bar.get_width(), 6)) for bar in bars}
    assert ends == {(round(free, 6), round(needed, 6)) for free, needed in spans.tolist()}
    labels = ax.get_legend_handles_labels()[1]
    assert labels == ["stays", "link 0", "link 1", "made again"]


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

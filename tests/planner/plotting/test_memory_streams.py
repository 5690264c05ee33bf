"""Streams of a step, interval by interval."""

import pytest

from planner.studies.reproduce.experiments.memory_latencies import timelines
from tests.planner.plotting.memory_cases import drawn, outcome


@pytest.mark.slow
def test_streams_are_drawn_interval_by_interval() -> None:
    of = outcome("latencies")
    panels = drawn(of)
    found = timelines(of.inputs)  # type: ignore[arg-type]
    assert len(panels) == 2 * len(found)
    for row, timeline in enumerate(found.values()):
        streams, layers = panels[2 * row : 2 * row + 2]
        assert len(streams.patches) == len(list(timeline.intervals()))
        ends = [bar.get_x() + bar.get_width() for bar in streams.patches]
        assert max(ends) == pytest.approx(1e3 * timeline.end_s)
        shown = sum(bar.get_height() for bar in layers.patches)
        assert shown == pytest.approx(1e3 * timeline.ends_s[-1])

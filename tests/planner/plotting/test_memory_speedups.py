"""Bars are the speedups."""

import pytest

from tests.planner.plotting.memory_cases import drawn, outcome


@pytest.mark.slow
def test_bars_are_the_speedups() -> None:
    of = outcome("speedups")
    panels = drawn(of)
    assert [panel.get_title() for panel in panels] == ["data-parallel", "model-parallel"]
    for panel in panels:
        assert len(panel.patches) == 5 * 9
        mean = panel.patches[4 * 9 - 1].get_height()
        assert mean == pytest.approx(of.quantities[f"MC-DLA(B) over DC-DLA, {panel.get_title()}"])
    labels = [text.get_text() for text in panels[0].get_figure().legends[0].get_texts()]
    assert sorted(labels) == ["HC-DLA", "MC-DLA(B)", "MC-DLA(L)", "MC-DLA(S)", "oracle", "published"]

"""Dots are the variants of a study."""

import pytest

from tests.planner.plotting.memory_cases import drawn, outcome


@pytest.mark.slow
def test_dots_are_the_variants() -> None:
    of = outcome("sensitivity")
    panels = drawn(of)
    assert len(panels) == len(of.rows)
    for panel, row in zip(panels, of.rows, strict=True):
        dots = panel.get_lines()[-1].get_xdata()
        assert list(dots) == pytest.approx([row.ours, *row.beside.values()])
    names = [label.get_text() for label in panels[0].get_yticklabels()]
    assert names[0] == "as in the study"
    assert len(names) == 14


@pytest.mark.slow
def test_readings_of_a_row_without_ours_are_drawn() -> None:
    of = outcome("larger_nodes")
    (panel,) = drawn(of)
    (published, dots) = panel.get_lines()
    assert list(published.get_xdata()) == [2.9, 2.9]
    assert list(dots.get_xdata()) == pytest.approx(list(of.rows[0].beside.values()))

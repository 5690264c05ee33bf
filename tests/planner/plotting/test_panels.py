"""Panels take the place of one set of axes."""

import pytest
from matplotlib.figure import Figure

from planner.plotting.panels import panels


def test_panels_take_the_place_of_one_axes() -> None:
    figure = Figure()
    row = panels(figure.subplots(), ["a", "b"])
    assert figure.axes == row
    assert [panel.get_title() for panel in row] == ["a", "b"]
    with pytest.raises(ValueError, match="lies in no grid of its figure"):
        panels(figure.add_axes((0, 0, 1, 1)), ["a"])

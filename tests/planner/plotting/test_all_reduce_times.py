"""Marks lie where times are equal."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from planner.studies.reproduce.run import ExperimentOutcome


@pytest.mark.slow
def test_both_axes_are_logarithmic_and_one_legend_names_each_line_once(drawn: tuple[ExperimentOutcome, Figure]) -> None:
    _, figure = drawn
    assert len(figure.axes) == 3
    assert {(ax.get_xscale(), ax.get_yscale()) for ax in figure.axes} == {("log", "log")}
    assert all(ax.get_xlabel() and ax.get_title() for ax in figure.axes)
    (legend,) = figure.legends
    labels = [text.get_text() for text in legend.get_texts()]
    assert len(labels) == len(set(labels))
    assert any("Lumorph-4" in label for label in labels)
    assert any(label.startswith("pipelined tree") for label in labels)


def test_marks_lie_where_times_are_equal(collectives: tuple[ExperimentOutcome, Figure]) -> None:
    outcome, figure = collectives
    for ax, ranks in zip(figure.axes, (64, 128, 256), strict=True):
        marks = {str(line.get_label()): line for line in ax.get_lines() if line.get_linestyle() == "None"}
        for other in ("ring", "Lumorph-2", "pipelined tree"):
            name = f"first message of equal time of Lumorph-4 over {other}, {ranks} ranks"
            at = np.asarray(marks[f"Lumorph-4 = {other}"].get_xdata(), np.float64)
            assert at[0] == pytest.approx(outcome.quantities[name])

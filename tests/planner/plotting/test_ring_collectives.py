"""Collectives on rings as lines."""

from matplotlib.figure import Figure

from planner.plotting.reproduced import FIGURES
from planner.studies.reproduce.published import FOLDER
from planner.studies.reproduce.run import reproduce_file


def test_a_line_for_each_collective() -> None:
    outcome = reproduce_file(FOLDER / "mcdla" / "ring_collectives.yaml")
    figure = Figure()
    first = FIGURES["ring_collectives"](figure.subplots(), outcome)
    assert len([line for line in first.get_lines() if len(line.get_xdata()) == 6]) == 2
    assert [label.get_text() for label in first.get_xticklabels()][::5] == ["4 KiB", "256 MiB"]

"""Intensities as lines."""

from matplotlib.figure import Figure

from planner.plotting.reproduced import FIGURES
from planner.studies.reproduce.published import FOLDER
from planner.studies.reproduce.run import reproduce_file


def test_a_line_for_each_batch_and_kind_of_attention() -> None:
    outcome = reproduce_file(FOLDER / "photonic_fabric" / "intensity.yaml")
    figure = Figure()
    first = FIGURES["inference_intensity"](figure.subplots(), outcome)
    assert len(figure.axes) == 2
    for panel in figure.axes:
        assert len([line for line in panel.get_lines() if len(line.get_xdata()) == 11]) == 8
        assert panel.get_xlabel() == "tokens"
    assert first.get_ylabel() == "arithmetic intensity (FLOP/B)"

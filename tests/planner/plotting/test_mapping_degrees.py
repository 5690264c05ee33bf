"""Degrees of mappings as lines."""

from matplotlib.figure import Figure

from planner.plotting.reproduced import FIGURES
from planner.studies.reproduce.published import FOLDER
from planner.studies.reproduce.run import reproduce_file


def test_a_line_for_each_memory_and_reach() -> None:
    outcome = reproduce_file(FOLDER / "photonic_fabric" / "mappings.yaml")
    figure = Figure()
    first = FIGURES["mapping_search"](figure.subplots(), outcome)
    lines = [line for line in first.get_lines() if len(line.get_xdata()) == 11]
    assert len(lines) == 3 * 2 + 3
    assert first.get_ylabel() == "tensor degree (accelerators)"

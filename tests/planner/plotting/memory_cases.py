"""Shared by the tests of `memory_sensitivity`, `memory_speedups` and `memory_streams`."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from planner.plotting.reproduced import FIGURES
from planner.studies.reproduce.published import FOLDER
from planner.studies.reproduce.run import ExperimentOutcome, reproduce_file


def outcome(name: str) -> ExperimentOutcome:
    return reproduce_file(FOLDER / "mcdla" / f"{name}.yaml")


def drawn(of: ExperimentOutcome) -> list[Axes]:
    figure = Figure()
    FIGURES[of.published.kind](figure.subplots(), of)
    figure.draw_without_rendering()
    return figure.axes

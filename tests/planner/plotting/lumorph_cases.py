"""Shared by the tests of `all_reduce_times`, `bucketed_speedup`, `lumorph_figures` and `panels`."""

from matplotlib.figure import Figure

from planner.plotting.reproduced import FIGURES
from planner.studies.reproduce.published import FOLDER
from planner.studies.reproduce.run import ExperimentOutcome, reproduce_file


def draw(name: str) -> tuple[ExperimentOutcome, Figure]:
    outcome = reproduce_file(FOLDER / "lumorph" / f"{name}.yaml")
    figure = Figure()
    assert FIGURES[outcome.published.kind](figure.subplots(), outcome) is figure.axes[0]
    return outcome, figure

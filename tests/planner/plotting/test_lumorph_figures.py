"""Figures on Lumorph: a row of panels, each with every algorithm, and marks where they were computed."""

from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from planner.plotting.panels import panels
from planner.plotting.reproduced import FIGURES, save_figures
from planner.studies.reproduce.published import FOLDER
from planner.studies.reproduce.run import ExperimentOutcome, reproduce_file


def draw(name: str) -> tuple[ExperimentOutcome, Figure]:
    outcome = reproduce_file(FOLDER / "lumorph" / f"{name}.yaml")
    figure = Figure()
    assert FIGURES[outcome.published.kind](figure.subplots(), outcome) is figure.axes[0]
    return outcome, figure


@pytest.fixture(scope="module")
def collectives() -> tuple[ExperimentOutcome, Figure]:
    return draw("collectives")


@pytest.fixture(scope="module")
def bert() -> tuple[ExperimentOutcome, Figure]:
    return draw("bert")


@pytest.fixture(params=["collectives", "bert"])
def drawn(request: pytest.FixtureRequest) -> tuple[ExperimentOutcome, Figure]:
    found: tuple[ExperimentOutcome, Figure] = request.getfixturevalue(request.param)
    return found


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


def test_rings_lie_at_the_largest_buckets(bert: tuple[ExperimentOutcome, Figure]) -> None:
    outcome, figure = bert
    readings = ("communication alone", "after the backward pass", "beside the backward pass")
    for ax, reading in zip(figure.axes, readings, strict=True):
        rings = [float(np.ravel(line.get_xdata())[0]) for line in ax.get_lines() if line.get_marker() == "o"]
        largest = [outcome.quantities[f"largest bucket of Lumorph-4, {reading}, {n} GPUs"] for n in (32, 64, 128, 256)]
        assert rings == pytest.approx([bucket / 1e6 for bucket in largest if bucket])


@pytest.mark.slow
def test_the_picture_is_written(drawn: tuple[ExperimentOutcome, Figure], tmp_path: Path) -> None:
    (path,) = save_figures(tmp_path, [drawn[0]])
    assert path.read_bytes().startswith(b"\x89PNG")
    assert path.stat().st_size > 50_000


def test_panels_take_the_place_of_one_axes() -> None:
    figure = Figure()
    row = panels(figure.subplots(), ["a", "b"])
    assert figure.axes == row
    assert [panel.get_title() for panel in row] == ["a", "b"]
    with pytest.raises(ValueError, match="lies in no grid of its figure"):
        panels(figure.add_axes((0, 0, 1, 1)), ["a"])

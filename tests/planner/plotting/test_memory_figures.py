"""Figures of memory nodes: what is drawn is what the experiments and the streams return."""

import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from planner.plotting.reproduced import FIGURES
from planner.studies.reproduce.experiments.memory_latencies import timelines
from planner.studies.reproduce.published import FOLDER
from planner.studies.reproduce.run import ExperimentOutcome, reproduce_file


def outcome(name: str) -> ExperimentOutcome:
    return reproduce_file(FOLDER / "mcdla" / f"{name}.yaml")


def drawn(of: ExperimentOutcome) -> list[Axes]:
    figure = Figure()
    FIGURES[of.published.kind](figure.subplots(), of)
    figure.draw_without_rendering()
    return figure.axes


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


@pytest.mark.slow
def test_streams_are_drawn_interval_by_interval() -> None:
    of = outcome("latencies")
    panels = drawn(of)
    found = timelines(of.inputs)  # type: ignore[arg-type]
    assert len(panels) == 2 * len(found)
    for row, timeline in enumerate(found.values()):
        streams, layers = panels[2 * row : 2 * row + 2]
        assert len(streams.patches) == len(list(timeline.intervals()))
        ends = [bar.get_x() + bar.get_width() for bar in streams.patches]
        assert max(ends) == pytest.approx(1e3 * timeline.end_s)
        shown = sum(bar.get_height() for bar in layers.patches)
        assert shown == pytest.approx(1e3 * timeline.ends_s[-1])


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

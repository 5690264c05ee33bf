"""The figure of fragmentation shows every scheme, measure and published run."""

from matplotlib.figure import Figure

from planner.plotting.fragmentation import fragmentation as draw
from tests.planner.studies.reproduce.experiments.fragmentation_cases import outcome


def test_the_figure_shows_every_scheme_measure_and_published_run() -> None:
    ax = draw(Figure().subplots(), outcome())
    assert len(ax.containers) == 6
    rings = [line for line in ax.get_lines() if line.get_marker() == "o" and len(line.get_xdata())]
    assert sum(len(line.get_xdata()) for line in rings) == 3 * 2 * 6
    assert [label.get_text() for label in ax.get_yticklabels()].count("3D torus") == 2
    assert len(ax.get_legend().get_texts()) == 5

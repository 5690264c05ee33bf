"""Figures of inference on optical memory: what is drawn is what the experiments return."""

import pytest
from matplotlib.figure import Figure

from planner.plotting.reproduced import FIGURES
from planner.studies.reproduce.published import FOLDER
from planner.studies.reproduce.run import reproduce_file

LINES = {
    ("optical_hbm", "one_rule"): 1 + 6,
    ("photonic_fabric", "inference_405b"): 1 + 8 + 2,
    ("photonic_fabric", "inference_batches"): 8,
}


@pytest.mark.parametrize(("paper", "name"), LINES)
def test_figure(paper: str, name: str) -> None:
    outcome = reproduce_file(FOLDER / paper / f"{name}.yaml")
    ax = Figure().subplots()
    assert FIGURES[outcome.published.kind](ax, outcome) is ax
    assert len(ax.get_lines()) == LINES[paper, name]
    assert ax.get_xlabel()
    assert ax.get_ylabel()
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert len(labels) == len(set(labels))

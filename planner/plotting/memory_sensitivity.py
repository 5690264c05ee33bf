"""Figures of a memory study under each change of what is not published, beside what the paper prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from planner.plotting.panels import panels
from planner.reproduce.experiments.memory_sensitivity import Inputs
from planner.reproduce.rows import Row
from planner.reproduce.run import Outcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes

AS_STUDIED = "as in the study"


def memory_sensitivity(ax: Axes, outcome: Outcome) -> Axes:
    """Draw a panel for each figure in the place of `ax`: a dot for each change, a line where the paper is."""
    assert isinstance(outcome.inputs, Inputs)
    titles = [
        each.quantity.replace(" over ", "\nover ").replace(" of ", "\nof ").replace(", ", ",\n")
        for each in outcome.rows
    ]
    row = panels(ax, titles, share_x=False)
    names = [AS_STUDIED, *outcome.inputs.variants]
    for panel, each in zip(row, outcome.rows, strict=True):
        _dots(panel, each, names)
    row[0].set_yticks(range(len(names)), names)
    row[0].set_ylim(len(names) - 0.5, -0.5)
    return row[0]


def _dots(panel: Axes, row: Row, names: list[str]) -> None:
    assert row.ours is not None
    values = [row.ours, *(row.beside[name] for name in names[1:])]
    panel.axvline(row.published_number, color="#d55e00", linewidth=1.2)
    panel.axvline(row.ours, color="#59626e", linewidth=0.8, linestyle=":")
    panel.plot(values, range(len(values)), "o", color="#0072b2", markersize=5)
    panel.set_xlabel(row.unit or "share")

"""Cells named "<traffic> <model> <system>" as lines over the models, published figures as rings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from planner.plotting.style import palette
from planner.studies.reproduce.rows import PublishedRow
from planner.studies.reproduce.run import ExperimentOutcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_lines(ax: Axes, outcome: ExperimentOutcome, styles: Mapping[str, str]) -> Axes:
    """One line for each traffic (with its style) and system (with its colour); the unit is that of the rows."""
    cells = {(traffic, model, system): row for traffic, model, system, row in _cells(outcome, styles)}
    models = list(dict.fromkeys(model for _, model, _ in cells))
    systems = list(dict.fromkeys(system for _, _, system in cells))
    for traffic, style in styles.items():
        for number, system in enumerate(systems):
            rows = [cells.get((traffic, model, system)) for model in models]
            x = _beside(len(models), number, len(systems))
            colour = palette(len(systems))[number]
            ours = [np.nan if row is None or row.ours is None else row.ours for row in rows]
            theirs = [np.nan if row is None else row.published_number for row in rows]
            label = system if style == "-" else None
            ax.plot(x, ours, linestyle=style, marker="x", markersize=4, linewidth=1.2, color=colour, label=label)
            ax.plot(x, theirs, linestyle="", marker="o", markersize=7, fillstyle="none", color=colour)
    ax.plot([], [], linestyle="", marker="o", fillstyle="none", color="#59626e", label="published")
    ax.set_yscale("log")
    ax.set_xticks(np.arange(len(models)), models)
    ax.set_xlabel("model size (parameters)")
    ax.set_ylabel(f"energy ({next(iter(cells.values())).unit})")
    ax.legend(frameon=False, fontsize=8)
    return ax


def _cells(outcome: ExperimentOutcome, styles: Mapping[str, str]) -> list[tuple[str, str, str, PublishedRow]]:
    """Rows by traffic, model and system; those that contradict the tables are left out."""
    split = [(row.quantity.split(" ", 2), row) for row in outcome.rows if row.verdict != "contradicted"]
    return [(p[0], p[1], p[2], row) for p, row in split if len(p) == 3 and p[0] in styles]


def _beside(models: int, number: int, systems: int) -> NDArray[np.float64]:
    """Places of one system's marks: a little apart, so that equal figures stay visible."""
    return np.arange(models, dtype=np.float64) + 0.14 * (number - (systems - 1) / 2)

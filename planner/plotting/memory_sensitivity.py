"""Figures of a memory study under each change of what is not published, beside what the paper prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from planner.plotting.panels import panels
from planner.studies.reproduce.rows import PublishedRow
from planner.studies.reproduce.run import ExperimentOutcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes

AS_STUDIED = "as in the study"


def memory_sensitivity(ax: Axes, outcome: ExperimentOutcome) -> Axes:
    """Draw a panel for each figure with other readings in the place of `ax`: a dot for each of these, a line where the
    paper is."""
    shown = [each for each in outcome.rows if each.beside]
    titles = [
        each.quantity.replace(" over ", "\nover ").replace(" of ", "\nof ").replace(", ", ",\n") for each in shown
    ]
    row = panels(ax, titles, share_x=False)
    readings = [_readings(each) for each in shown]
    for panel, each, found in zip(row, shown, readings, strict=True):
        _dots(panel, each, list(found.values()))
    row[0].set_yticks(range(len(readings[0])), list(readings[0]))
    row[0].set_ylim(len(readings[0]) - 0.5, -0.5)
    return row[0]


def _readings(row: PublishedRow) -> dict[str, float]:
    """By label, ours first where there is one."""
    return ({} if row.ours is None else {AS_STUDIED: row.ours}) | row.beside


def _dots(panel: Axes, row: PublishedRow, values: list[float]) -> None:
    panel.axvline(row.published_number, color="#d55e00", linewidth=1.2)
    if row.ours is not None:
        panel.axvline(row.ours, color="#59626e", linewidth=0.8, linestyle=":")
    panel.plot(values, range(len(values)), "o", color="#0072b2", markersize=5)
    panel.set_xlabel({"x": "speed-up (x)", "%": "share (%)"}.get(row.unit, row.unit or "share"))

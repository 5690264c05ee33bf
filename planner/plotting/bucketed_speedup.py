"""Speed-up of training against the size of gradient buckets: a panel a reading, a colour a number of GPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from planner.plotting.panels import LABEL_BOX, legend_below, panels
from planner.plotting.style import palette
from planner.studies.reproduce.experiments.all_reduce_algorithms import LUMORPH_4, PIPELINED_TREE, best
from planner.studies.reproduce.experiments.bucketed_training import AFTER, ALONE, BESIDE, Inputs, SpeedupCurve, curves
from planner.studies.reproduce.run import ExperimentOutcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TITLES = {
    ALONE: "communication alone",
    AFTER: "with compute time, after the backward pass",
    BESIDE: "with compute time, beside the backward pass",
}


def bucketed_speedup(ax: Axes, outcome: ExperimentOutcome) -> Axes:
    """Draw a row of panels in the place of `ax`; the first of them."""
    inputs = outcome.inputs
    assert isinstance(inputs, Inputs)
    row = panels(ax, list(TITLES.values()))
    styles = {LUMORPH_4: "-", PIPELINED_TREE: "--", best(min(inputs.network.peers)): ":"}
    for ranks, colour in zip(inputs.ranks, palette(len(inputs.ranks)), strict=True):
        for curve in curves(inputs, ranks, inputs.sweep_bytes()):
            if curve.reading in TITLES and curve.algorithm in styles:
                panel = row[list(TITLES).index(curve.reading)]
                _draw(panel, inputs, curve, styles[curve.algorithm], colour)
    for panel in row:
        panel.axhline(inputs.speedup, color="#59626e", linewidth=0.8, label=f"{inputs.speedup:g} x, as published")
        panel.axhline(1.0, color="#1d2530", linewidth=0.8, label=f"{inputs.over}, ideal switch")
        panel.set_xlabel("bucket (MB)")
    row[0].set(xscale="log", yscale="log", ylabel=f"speed-up over {inputs.over}")
    _plain_ticks(row[0], [1, 2, 5, 10, 20, 50, 100], [0.8, 1, 1.2, 1.5, 2, 3, 4, 6, 8])
    legend_below(row, 5)
    return row[0]


def _draw(panel: Axes, inputs: Inputs, curve: SpeedupCurve, line: str, colour: str) -> None:
    """One curve; on that of Lumorph-4 a ring at the largest bucket with the speed-up that is sought."""
    buckets = inputs.sweep_bytes()
    label = f"{curve.algorithm}, {curve.ranks} GPUs"
    panel.plot(buckets / 1e6, curve.speedup, line, color=colour, linewidth=1.4, label=label)
    reached = np.flatnonzero(curve.speedup >= inputs.speedup)
    if curve.algorithm == LUMORPH_4 and len(reached):
        at = buckets[reached[-1]] / 1e6, curve.speedup[reached[-1]]
        panel.plot(*at, "o", color=colour, fillstyle="none", markersize=7)
        text = panel.annotate(f"{at[0]:.3g} MB", at, (7, 6), textcoords="offset points", fontsize=8, color=colour)
        text.set_bbox(LABEL_BOX)


def _plain_ticks(panel: Axes, x: list[float], y: list[float]) -> None:
    """Written out, without powers of ten."""
    from matplotlib.ticker import FixedLocator, FormatStrFormatter, NullLocator

    for axis, places in ((panel.xaxis, x), (panel.yaxis, y)):
        axis.set_major_locator(FixedLocator(places))
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(FormatStrFormatter("%g"))

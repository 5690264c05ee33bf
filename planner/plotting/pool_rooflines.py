"""Rooflines of memory pools: each workload's intensity against the ridge it was given, a panel a phase."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from costmodel.memory_pool.demand import attainable_flops_per_s
from planner.plotting.panels import LABEL_BOX, legend_below, panels
from planner.plotting.style import palette
from planner.studies.reproduce.experiments.pool_rooflines import NORMALIZED, OWN, PHASES, GivenRoofline, Inputs, given
from planner.studies.reproduce.run import ExperimentOutcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STYLES = {OWN: ("-", "o"), NORMALIZED: (":", "s")}
RANGE = (20.0, 5000.0)
"""intensities drawn, FLOP/B"""
WHOLE, DIVIDED = "intensity, undivided", "intensity over its accelerators"


def pool_rooflines(ax: Axes, outcome: ExperimentOutcome) -> Axes:
    """Draw a row of panels in the place of `ax`; the first of them."""
    inputs = outcome.inputs
    assert isinstance(inputs, Inputs)
    row = panels(ax, PHASES)
    colours = dict(zip(inputs.models, palette(len(inputs.models)), strict=True))
    for each in given(inputs):
        _draw(row[PHASES.index(each.phase)], inputs, each, colours.get(each.label, "#59626e"))
    for panel in row:
        _roof(
            panel, inputs, inputs.baseline.device.memory_bytes_per_s, color="#1d2530", linewidth=1.6, label="baseline"
        )
        panel.set_xlabel("arithmetic intensity (FLOP/B)")
    for reading, (line, mark) in STYLES.items():
        row[0].plot(
            [], [], line, marker=mark, color="#59626e", fillstyle="none", markersize=5, label=f"ridge, {reading}"
        )
    row[0].plot([], [], "x", color="#59626e", markersize=6, label=DIVIDED)
    row[0].plot([], [], "|", color="#59626e", markersize=10, label=WHOLE)
    row[0].set(xscale="log", yscale="log", xlim=RANGE, ylabel="attainable TFLOP/s of an accelerator")
    row[0].set_ylim(40, 2.2 * inputs.flops_per_s / 1e12)
    legend_below(row, 5)
    return row[0]


def _draw(panel: Axes, inputs: Inputs, each: GivenRoofline, colour: str) -> None:
    """Roof and ridge; what the divided workload attains; and, once, its undivided intensity at the top."""
    peak = inputs.flops_per_s / 1e12
    line, mark = STYLES[each.reading]
    _roof(panel, inputs, each.bytes_per_s, linestyle=line, color=colour, linewidth=0.9)
    panel.plot(inputs.flops_per_s / each.bytes_per_s, peak, mark, color=colour, fillstyle="none", markersize=5)
    divided = each.divided.flops_per_byte[0]
    attained = attainable_flops_per_s(divided, inputs.flops_per_s, each.bytes_per_s) / 1e12
    panel.plot(divided, attained, "x", color=colour, markersize=6, markeredgewidth=1.6)
    if each.reading == OWN:
        number = list(inputs.models).index(each.label)
        whole = each.whole.flops_per_byte[0]
        panel.plot(whole, 1.12 * peak, "|", color=colour, markersize=10, markeredgewidth=2)
        text = panel.annotate(
            each.label, (whole, 1.12 * peak), (0, 8 + 9 * (number % 2)), textcoords="offset points",
            ha="center", fontsize=8, color=colour,
        )  # fmt: skip
        text.set_bbox(LABEL_BOX)


def _roof(panel: Axes, inputs: Inputs, bytes_per_s: float, **style: object) -> None:
    places = np.geomspace(*RANGE, 200)
    attained = attainable_flops_per_s(places, inputs.flops_per_s, bytes_per_s) / 1e12
    panel.plot(places, attained, **style)  # type: ignore[arg-type]

"""Arithmetic intensity of prefill and decode against tokens: a colour a batch, a dashed line unfused attention."""

from __future__ import annotations

from typing import TYPE_CHECKING

from costmodel.hardware.device import load_device
from planner.plotting.panels import legend_below, panels
from planner.plotting.style import palette
from planner.studies.reproduce.experiments.inference_intensity import FUSED, UNFUSED, Inputs, intensities
from planner.studies.reproduce.run import ExperimentOutcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STYLES = {FUSED: "-", UNFUSED: "--"}
TITLES = ("prefill, tokens of the input", "decode, tokens in the cache")


def inference_intensity(ax: Axes, outcome: ExperimentOutcome) -> Axes:
    """Draw a row of panels in the place of `ax`; the first of them."""
    inputs = outcome.inputs
    assert isinstance(inputs, Inputs)
    row = panels(ax, TITLES)
    for label, style in STYLES.items():
        for panel, values in zip(row, intensities(inputs, label), strict=True):
            for batch, colour, line in zip(inputs.batches, palette(len(inputs.batches)), values, strict=True):
                panel.plot(inputs.lengths, line, style, color=colour, linewidth=1.4, label=f"batch {batch}, {label}")
    device = load_device(inputs.device)
    for panel in row:
        panel.axhline(
            outcome.quantities["ridge"], color="#59626e", linewidth=0.8, linestyle=":", label=f"ridge of {device.name}"
        )
        panel.set_xlabel("tokens")
    row[0].set(xscale="log", yscale="log", ylabel="arithmetic intensity (FLOP/B)")
    ticks = inputs.lengths[::2]
    row[0].set_xticks(ticks, [f"{each:,}" for each in ticks])
    row[0].minorticks_off()
    legend_below(row, len(inputs.batches) + 1)
    return row[0]

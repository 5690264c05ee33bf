"""Throughput against the batch, full lines on the appliance and dashed ones on the baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from planner.plotting.style import palette
from planner.studies.reproduce.experiments import photonic_batches
from planner.studies.reproduce.run import ExperimentOutcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STYLES = {"appliance": "-o", "baseline": "--s"}


def serving_batches(ax: Axes, outcome: ExperimentOutcome) -> Axes:
    """Draw each curve up to the largest batch that fits."""
    inputs = outcome.inputs
    assert isinstance(inputs, photonic_batches.Inputs)
    colours = palette(len(inputs.requests))
    for curve in photonic_batches.curves(inputs):
        colour = colours[inputs.requests.index(curve.request)]
        name = f"{curve.system}, {curve.request[0]} in {curve.request[1]} out"
        ax.plot(curve.batch, curve.output_tokens_per_s, STYLES[curve.system], color=colour, markersize=4, label=name)
    ax.set_xscale("log", base=2)
    ax.set_yscale("log")
    ax.set_xticks(inputs.batches, [str(batch) for batch in inputs.batches])
    ax.set_xlabel("sequences at once")
    ax.set_ylabel("output tokens per second")
    ax.legend(frameon=False, fontsize=8, handlelength=3, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return ax

"""Gains in throughput and latency against the compute on the appliance, a colour for each request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from planner.plotting.style import palette
from planner.studies.reproduce.experiments import photonic_inference
from planner.studies.reproduce.run import ExperimentOutcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKS = {"throughput gain": "*", "latency gain": "P"}
"""of what is published, each for full compute"""


def serving_gains(ax: Axes, outcome: ExperimentOutcome) -> Axes:
    """Draw throughput as full lines and latency as dashed ones; 1 is the baseline."""
    inputs = outcome.inputs
    assert isinstance(inputs, photonic_inference.Inputs)
    throughput, latency = photonic_inference.gains_by_compute(inputs, inputs.rules)
    for number, (tokens_in, tokens_out) in enumerate(inputs.requests):
        colour, name = palette(len(inputs.requests))[number], f"{tokens_in} in {tokens_out} out"
        for what, gain, style in (("throughput", throughput, "-o"), ("latency", latency, "--s")):
            label = f"{what}, {name}"
            ax.plot(inputs.compute_shares, gain[:, number], style, color=colour, markersize=4, label=label)
    for row in outcome.rows:
        if row.quantity in MARKS and not isinstance(row.published, tuple):
            label = f"published largest {row.quantity}"
            ax.plot([1.0], [row.published], MARKS[row.quantity], color="black", markersize=9, label=label)
    ax.axhline(1.0, color="#59626e", linewidth=0.8)
    ax.set_xscale("log", base=2)
    ax.set_xticks(inputs.compute_shares, [f"{share:g}" for share in inputs.compute_shares])
    ax.set_yscale("log", base=2)
    ticks = [tick for tick in (0.25, 0.5, 1, 2, 4, 8, 16) if ax.get_ylim()[0] <= tick <= ax.get_ylim()[1]]
    ax.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.set_xlabel("compute on the appliance over that of the baseline")
    ax.set_ylabel("gain over the baseline")
    ax.legend(frameon=False, fontsize=8, handlelength=3, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return ax

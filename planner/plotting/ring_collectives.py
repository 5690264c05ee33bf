"""What memory nodes between accelerators cost collectives, against the message."""

from __future__ import annotations

from typing import TYPE_CHECKING

from planner.plotting.style import palette
from planner.studies.reproduce.experiments.ring_collectives import Inputs
from planner.studies.reproduce.run import ExperimentOutcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLLECTIVES = {"all-gather": "o", "all-reduce": "x"}
KIB = 1024


def ring_collectives(ax: Axes, outcome: ExperimentOutcome) -> Axes:
    """Draw time with memory nodes over that without, a line a collective."""
    inputs = outcome.inputs
    assert isinstance(inputs, Inputs)
    sizes = [size / KIB for size in inputs.messages_bytes]
    for (name, marker), colour in zip(COLLECTIVES.items(), palette(len(COLLECTIVES)), strict=True):
        ratios = [outcome.quantities[f"{name} of {size:g} KiB"] for size in sizes]
        ax.plot(sizes, ratios, color=colour, marker=marker, linewidth=1.3, label=name)
    longer = outcome.quantities["nodes of a ring"] / outcome.quantities["nodes of a ring without"]
    ax.axhline(longer, color="#59626e", linewidth=0.8, linestyle=":", label="nodes of the ring, with over without")
    ax.set_xscale("log")
    ax.set_xticks(sizes, [f"{size:g} KiB" if size < KIB else f"{size / KIB:g} MiB" for size in sizes])
    ax.minorticks_off()
    ax.set_xlabel("message")
    ax.set_ylabel("time with memory nodes over that without")
    ax.set_title("Ring collectives with memory nodes between accelerators", fontsize=10)
    ax.legend(frameon=False, fontsize=8)
    return ax

"""Speed-up of embedding pooling on an appliance by the number of tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from planner.plotting.style import palette
from planner.studies.reproduce.experiments.dlrm_pooling import Inputs, grid, speedups
from planner.studies.reproduce.run import ExperimentOutcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STYLES = ("-", "--", ":")
MARKERS = ("o", "s", "^")


def dlrm_pooling(ax: Axes, outcome: ExperimentOutcome) -> Axes:
    """Draw the speed-up over each network: colour by batch, marker by pooling, means as thin lines."""
    assert isinstance(outcome.inputs, Inputs)
    inputs, lookups = outcome.inputs, np.array(grid(outcome.inputs))
    tables, batches, poolings = lookups.T
    for (network, values), style in zip(speedups(inputs).items(), STYLES, strict=False):
        for batch, colour in zip(inputs.batch, palette(len(inputs.batch)), strict=True):
            for pooling, marker in zip(inputs.pooling, MARKERS, strict=False):
                rows = (batches == batch) & (poolings == pooling)
                label = f"{network}, batch {batch}, pooling {pooling}"
                line = ax.plot(tables[rows], values[rows], linestyle=style, color=colour, label=label)[0]
                line.set(marker=marker, markersize=4, linewidth=1.2)
        ax.axhline(values.mean(), linestyle=style, linewidth=0.7, color="#59626e", label=f"{network}, mean")
    ax.set_xscale("log", base=2)
    ax.set_xticks(inputs.tables, [str(tables) for tables in inputs.tables])
    ax.set_xlabel("embedding tables")
    ax.set_ylabel("speed-up of the appliance")
    ax.set_ylim(bottom=0)
    ax.set_title("Embedding pooling, appliance against accelerators", fontsize=10)
    ax.legend(frameon=False, fontsize=7, loc="upper left", bbox_to_anchor=(1.01, 1))
    return ax

"""Energy of offloading by model size: computed as crosses, published as rings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from planner.plotting.energy_lines import draw_lines
from planner.studies.reproduce.run import ExperimentOutcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def offload_energy(ax: Axes, outcome: ExperimentOutcome) -> Axes:
    """Draw the cells of table 3; those without a cross cannot be derived."""
    draw_lines(ax, outcome, {"offload": "-"})
    ax.set_title("Energy of offloading in a training batch (rings without a cross: not derivable)", fontsize=10)
    return ax

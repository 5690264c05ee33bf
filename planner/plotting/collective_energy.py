"""Energy of tensor and pipeline traffic by model size: computed as lines, published as rings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from planner.plotting.energy_lines import draw_lines
from planner.studies.reproduce.run import ExperimentOutcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def collective_energy(ax: Axes, outcome: ExperimentOutcome) -> Axes:
    """Draw the cells of tables 2 and 4 on one logarithmic axis."""
    draw_lines(ax, outcome, {"TP": "-", "PP": "--"})
    ax.set_title("Energy of tensor (solid) and pipeline (dashed) traffic of a training batch", fontsize=10)
    return ax

"""Shares that each slice scheme admits, with 95 % intervals, beside the exact value without shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from planner.studies.fragmentation.loss_system import MEASURES
from planner.studies.reproduce.experiments import fragmentation as experiment
from planner.studies.reproduce.experiments.fragmentation import EXACT, quantity
from planner.studies.reproduce.run import ExperimentOutcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = ("#0072b2", "#009e73", "#d55e00")
"""of the measures"""
SPREAD, GAP = 0.22, 1.0
"""between the measures of a scheme, and between two clusters, of the place of a scheme"""


def fragmentation(ax: Axes, outcome: ExperimentOutcome) -> Axes:
    """Draw a line of dots for each scheme, clusters below each other; rings are published figures."""
    assert isinstance(outcome.inputs, experiment.Inputs)
    top, ticks = 0.0, dict[float, str]()
    for cluster, schemes in outcome.inputs.clusters.items():
        places = {name: top - number for number, name in enumerate(schemes)}
        ticks |= {place: name for name, place in places.items()}
        ends = top + 0.6, top - len(schemes) + 0.4
        for number, measure in enumerate(MEASURES):
            value = 100 * outcome.quantities[quantity(measure, EXACT, cluster)]
            ax.plot((value, value), ends, ":", color=COLOURS[number], linewidth=1.0)
            _draw(ax, outcome, measure, cluster, places)
        ax.text(0.99, ends[0], cluster, transform=ax.get_yaxis_transform(), ha="right", va="bottom", fontsize=9)
        top = ends[1] - 0.6 - GAP
    for measure, colour in zip(MEASURES, COLOURS, strict=True):
        ax.plot([], [], "|", color=colour, markersize=7, markeredgewidth=1.5, label=measure)
    ax.plot([], [], "o", fillstyle="none", color="#59626e", markersize=6, label="published")
    ax.plot([], [], ":", color="#59626e", label="exact, any free chips")
    ax.set_yticks(list(ticks), list(ticks.values()), fontsize=8)
    ax.set_ylim(top + GAP, 1.6)
    ax.set_xlabel("% of jobs, of GPUs asked for, and of GPUs busy; bars are 95 % intervals")
    ax.grid(axis="y", color="#eceff3")
    ax.set_axisbelow(True)
    ax.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return ax


def _draw(ax: Axes, outcome: ExperimentOutcome, measure: str, cluster: str, places: dict[str, float]) -> None:
    """One measure of all schemes of a cluster."""
    number = MEASURES.index(measure)
    published = {row.quantity: row.published_number for row in outcome.rows}
    names = [quantity(measure, scheme, cluster) for scheme in places]
    heights = [place + SPREAD * (1 - number) for place in places.values()]
    ours = [100 * outcome.quantities[name] for name in names]
    errors = [100 * outcome.quantities[f"{name}, interval"] for name in names]
    ax.errorbar(
        ours, heights, xerr=errors, fmt="|", color=COLOURS[number], markersize=6, markeredgewidth=1.5, elinewidth=3.0
    )
    rings = [(published[name], height) for name, height in zip(names, heights, strict=True) if name in published]
    if rings:
        ax.plot(*zip(*rings, strict=True), "o", fillstyle="none", color=COLOURS[number], markersize=6, alpha=0.7)
